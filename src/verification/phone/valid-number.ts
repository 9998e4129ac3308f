import type { PhoneType } from "../../contract/words.ts";
import type { ByteWriter } from "../../platform/byte-writer.ts";
import { type NumberFormat, writeInternational, writeNational } from "./number-format.ts";
import type { PlainVerdict } from "./plain-validation.ts";
import { formatIn } from "./plan-label.ts";
import { formatOf, type NumberingPlan } from "./plans.ts";
import { originalCarrierOf, timezonesOf } from "./prefixes.ts";

/** A valid number of a known country, or a non-geographic one, that is serialised without a result. */
export type ValidNumber = {
  readonly phone: string;
  readonly nationalNumber: string;
  readonly frame: NumberFrame;
  /** As JSON. */
  readonly zones: Uint8Array;
  readonly carrier: Uint8Array;
};

/** A template of a result's JSON, with gaps for what differs among the valid numbers of a plan with the same label. */
type NumberFrame = {
  readonly format: NumberFormat | undefined;
  readonly beforeE164: Uint8Array;
  readonly beforeInternational: Uint8Array;
  readonly beforeRfc3966: Uint8Array;
  readonly beforeNationalNumber: Uint8Array;
  readonly beforeZones: Uint8Array;
};

const encoder = new TextEncoder();
const BEFORE_PHONE = encoder.encode(`{"phone":"`);
const BEFORE_NATIONAL = encoder.encode(`","national":"`);
const BEFORE_CARRIER = encoder.encode(`,"original_carrier":`);
const NO_CARRIER = encoder.encode("null}");

/** Returns the number to serialise; null for one that is invalid, or has no frame. */
export function validNumberOf(phone: string, verdict: PlainVerdict): ValidNumber | null {
  if (typeof verdict === "string" || verdict.type === undefined) return null;
  const { reading, type } = verdict;
  const { plan, country, nationalNumber, label } = reading;
  const frame = country === plan.country ? frameFor(plan, label, type) : null;
  if (frame === null) return null;
  const callingCode = plan.callingCode.digits;
  const digits = callingCode + nationalNumber;
  const carrier = originalCarrierOf(digits, country, type);
  return {
    phone,
    nationalNumber,
    frame,
    zones: timezonesOf(digits, callingCode, type).json,
    carrier: carrier === null ? NO_CARRIER : endingWith(carrier),
  };
}

/** Writes what `JSON.stringify` returns for `plainResult`. The text may have ASCII digits and punctuation only. */
export function writeValidNumber(
  { phone, nationalNumber, frame, zones, carrier }: ValidNumber,
  writer: ByteWriter,
): void {
  const { length } = nationalNumber;
  writer.bytes(BEFORE_PHONE);
  writer.ascii(phone, 0, phone.length);
  writer.bytes(frame.beforeE164);
  writer.ascii(nationalNumber, 0, length);
  writer.bytes(frame.beforeInternational);
  writeInternational(nationalNumber, frame.format, writer);
  writer.bytes(BEFORE_NATIONAL);
  writeNational(nationalNumber, frame.format, writer);
  writer.bytes(frame.beforeRfc3966);
  writer.ascii(nationalNumber, 0, length);
  writer.bytes(frame.beforeNationalNumber);
  writer.ascii(nationalNumber, 0, length);
  writer.bytes(frame.beforeZones);
  writer.bytes(zones);
  writer.bytes(BEFORE_CARRIER);
  writer.bytes(carrier);
}

/** By plan and label; at most as many as the plans have labels. */
const frames = new WeakMap<NumberingPlan, Map<number, NumberFrame | null>>();

function frameFor(plan: NumberingPlan, label: number, type: PhoneType): NumberFrame | null {
  let ofPlan = frames.get(plan);
  if (ofPlan === undefined) {
    ofPlan = new Map();
    frames.set(plan, ofPlan);
  }
  const known = ofPlan.get(label);
  if (known !== undefined) return known;
  const made = newFrame(plan, label, type);
  ofPlan.set(label, made);
  return made;
}

/** Creates a frame; null where the format has characters that are not ASCII, or that JSON escapes. */
function newFrame(plan: NumberingPlan, label: number, type: PhoneType): NumberFrame | null {
  const format = formatOf(plan, formatIn(label));
  const texts = format === undefined ? [] : [...format.national.texts, ...format.international.texts];
  if (/[^ -~]|["\\]/.test(texts.join(""))) return null;
  const code = plan.callingCode.digits;
  const isNonGeographic = plan.country === undefined;
  const country = plan.country ?? "001";
  return {
    format,
    beforeE164: encoder.encode(`","valid":true,"possible":true,"reason":null,"e164":"+${code}`),
    beforeInternational: encoder.encode(`","international":"+${code} `),
    beforeRfc3966: encoder.encode(`","rfc3966":"tel:+${code}`),
    beforeNationalNumber: encoder.encode(
      `","country":"${country}","calling_code":"${code}","national_number":"`,
    ),
    beforeZones: encoder.encode(
      `","extension":null,"is_non_geographic":${isNonGeographic},"vanity":false,"type":"${type}","timezones":`,
    ),
  };
}

/** The memo of ends of results by carrier; at most as many as the table has carriers. */
const endings = new Map<string, Uint8Array>();

function endingWith(carrier: string): Uint8Array {
  const known = endings.get(carrier);
  if (known !== undefined) return known;
  const ending = encoder.encode(`${JSON.stringify(carrier)}}`);
  endings.set(carrier, ending);
  return ending;
}
