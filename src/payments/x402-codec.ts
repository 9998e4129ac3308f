import { isObject, type JsonObject, parseObject } from "../platform/json-value.ts";
import { aliasOf, findNetwork, type Network } from "./networks.ts";
import { type Offer, type Requirement, requirementV1 } from "./offer.ts";

/** An unchecked payment. */
export type SentPayment = {
  readonly x402Version: 1 | 2;
  /** The whole payload, which the facilitator gets. */
  readonly sent: { readonly [name: string]: unknown };
  readonly payload: { readonly [name: string]: unknown };
  /** The claimed requirement: an entry of `accepts` in version 2, scheme and network in version 1. */
  readonly accepted: { readonly [name: string]: unknown };
};

export type ReadPayment =
  | { readonly kind: "none" }
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "payment"; readonly payment: SentPayment };

/** A settlement on the wire. */
export type SettlementNotice = {
  readonly success: boolean;
  readonly transaction: string;
  readonly network: string;
  readonly payer: string;
  readonly errorReason?: string;
};

const PAYMENT_HEADER_BYTES_MAX = 16_384;
const CHALLENGE_HEADER_BYTES_MAX = 8192;

/** Reads the payment of a call: version 2 from PAYMENT-SIGNATURE, else version 1 from X-PAYMENT. */
export function readPayment(headers: { get(name: string): string | null }): ReadPayment {
  const second = headers.get("payment-signature");
  if (second !== null) return readHeader(second, "PAYMENT-SIGNATURE", 2);
  const first = headers.get("x-payment");
  return first === null ? { kind: "none" } : readHeader(first, "X-PAYMENT", 1);
}

function readHeader(text: string, name: string, version: 1 | 2): ReadPayment {
  const malformed = (reason: string): ReadPayment => ({ kind: "malformed", reason: `${name} ${reason}` });
  if (text.length > PAYMENT_HEADER_BYTES_MAX) {
    return malformed(`is longer than ${PAYMENT_HEADER_BYTES_MAX} bytes`);
  }
  const sent = decode(text);
  if (sent === null) return malformed("must be a JSON object in base64");
  // Clients of version 1 know no other header, and some of version 2 put theirs there.
  const x402Version = sent.x402Version === 2 ? 2 : 1;
  if (sent.x402Version !== version && !(version === 1 && x402Version === 2)) {
    return malformed(`must have x402Version ${version}`);
  }
  const { payload } = sent;
  if (!isObject(payload)) return malformed("has no payload");
  const accepted = x402Version === 2 ? sent.accepted : sent;
  if (!isObject(accepted)) return malformed("has no accepted");
  return { kind: "payment", payment: { x402Version, sent, payload, accepted } };
}

/** Returns the claimed network of a payment, by its name in either version; null for an unknown one. */
export function networkOf({ accepted: { network } }: Pick<SentPayment, "accepted">): Network | null {
  return typeof network === "string" ? findNetwork(network) : null;
}

/** Returns the requirement that a payment is for, or null. Version 1 names scheme and network alone. */
export function matchRequirement(
  { x402Version, accepted }: SentPayment,
  requirements: readonly Requirement[],
): Requirement | null {
  const found = requirements.find(({ scheme, network }) => {
    const name = accepted.network;
    return accepted.scheme === scheme && typeof name === "string" && findNetwork(name)?.id === network;
  });
  if (found === undefined) return null;
  if (x402Version === 1) return found;
  if (accepted.network !== found.network || accepted.amount !== found.amount) return null;
  const { asset, payTo, network: on } = found;
  if (!isSameAddress(accepted.asset, asset, on) || !isSameAddress(accepted.payTo, payTo, on)) return null;
  // The payment must be for the quote that the payer accepted.
  const extra = isObject(accepted.extra) ? accepted.extra : {};
  return Object.entries(found.extra).every(([name, value]) => extra[name] === value) ? found : null;
}

/** Addresses of EVM networks are case-insensitive, those of Solana are not. */
function isSameAddress(sent: unknown, required: string, network: string): boolean {
  if (typeof sent !== "string") return false;
  if (findNetwork(network)?.kind === "solana") return sent === required;
  return sent.toLowerCase() === required.toLowerCase();
}

/** The challenge of a 402: the header of version 2 and the fields of the body. */
export type Challenge = {
  readonly header: string;
  readonly body: { readonly [name: string]: unknown };
};

/**
 * Returns the challenge of an offer. Extensions, which only describe, are omitted where the header would exceed its limit.
 */
export function challengeOf(offer: Offer, requirements: readonly Requirement[], error: string): Challenge {
  const { resource, extensions } = offer;
  const bare = { x402Version: 2, error, resource, accepts: requirements };
  const full = extensions === undefined ? bare : { ...bare, extensions };
  const header = encode(full);
  const second = header.length <= CHALLENGE_HEADER_BYTES_MAX ? full : bare;
  const accepts = requirements.map((requirement) => requirementV1(requirement, resource));
  return {
    header: second === full ? header : encode(bare),
    body: { x402Version: 1, accepts, payment_required: second },
  };
}

/** Returns the headers with the settlement of a call's payment. */
export function settlementHeaders(
  x402Version: 1 | 2,
  notice: SettlementNotice,
): { readonly [name: string]: string } {
  if (x402Version === 2) return { "PAYMENT-RESPONSE": encode(notice) };
  return { "X-PAYMENT-RESPONSE": encode({ ...notice, network: aliasOf(notice.network) }) };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("base64");
}

function decode(text: string): JsonObject | null {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  return parseObject(Buffer.from(text, "base64").toString("utf8"));
}
