import type { PhoneType } from "../../contract/words.ts";
import carrierText from "./data/carriers.txt" with { type: "text" };
import portableText from "./data/portable-regions.txt" with { type: "text" };
import timezoneText from "./data/timezones.txt" with { type: "text" };
import { decodePrefixTable } from "./prefix-table.ts";

/**
 * Calling codes whose mobile numbers begin with an area code too: MX AR BR ID CN, as in libphonenumber; and 1 and 7,
 * whose first digits at least show the country.
 */
const MOBILE_WITH_AREA_CODE = new Set(["52", "54", "55", "62", "86", "1", "7"]);

/** Types of numbers that are allocated to mobile carriers. */
const OF_CARRIERS: ReadonlySet<PhoneType> = new Set<PhoneType>(["mobile", "fixed_line_or_mobile", "pager"]);

// The tables are constant, and decoded on first use, once in each thread.
const timezoneTable = once(() => decodePrefixTable(timezoneText));
const carrierTable = once(() => decodePrefixTable(carrierText));
const portableRegions = once(
  () => new Set(portableText.split("\n").filter((line) => /^[A-Z]{2}$/.test(line))),
);

/** A list of time zones, and its JSON in bytes. The list is not frozen: that makes its JSON four times slower. */
export type Zones = { readonly list: readonly string[]; readonly json: Uint8Array };

const NO_ZONES = zonesOf([]);

function zonesOf(list: readonly string[]): Zones {
  return { list, json: new TextEncoder().encode(JSON.stringify(list)) };
}

/**
 * Returns the time zones of a valid number, whose `digits` begin with its calling code: those of its area where the
 * type is tied to one, else those of all countries of the calling code.
 */
export function timezonesOf(digits: string, callingCode: string, type: PhoneType): Zones {
  const tiedToArea =
    type === "fixed_line" ||
    type === "fixed_line_or_mobile" ||
    (type === "mobile" && MOBILE_WITH_AREA_CODE.has(callingCode));
  const zones = timezoneTable()(tiedToArea ? digits : callingCode);
  return zones === undefined ? NO_ZONES : zonesIn(zones);
}

/** The memo of split lists, one for each value of the table. */
const knownZones = new Map<string, Zones>();

function zonesIn(zones: string): Zones {
  const known = knownZones.get(zones);
  if (known !== undefined) return known;
  const made = zonesOf(zones.split("&"));
  knownZones.set(zones, made);
  return made;
}

/**
 * Returns the carrier to which a valid number was first allocated. Null in countries with mobile number portability,
 * where that says nothing about the present carrier.
 */
export function originalCarrierOf(
  digits: string,
  country: string | undefined,
  type: PhoneType,
): string | null {
  if (!OF_CARRIERS.has(type)) return null;
  if (country !== undefined && portableRegions().has(country)) return null;
  return carrierTable()(digits) ?? null;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
