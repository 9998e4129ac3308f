import { sha256 } from "../platform/sha256.ts";
import type { Network } from "./networks.ts";
import type { Requirement } from "./offer.ts";

/** What makes a payment this one and no other. */
export type PaymentIdentity = {
  /** `pay_` and 32 hex digits, made of network, payer and nonce: the same payment has it on every call. */
  readonly id: string;
  /** The address that pays; null on Solana, where only the facilitator knows it. */
  readonly payer: string | null;
  /** The nonce of an authorization, or the SHA-256 of a transaction's message. */
  readonly nonce: string;
  /** SHA-256 of the signed payment. Who has it, holds the payment. */
  readonly proof: string;
  /** When an authorization begins and ceases to be good, in seconds since the epoch; null on Solana. */
  readonly validity: { readonly after: bigint; readonly before: bigint } | null;
};

type Payload = { readonly [name: string]: unknown };

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
const EVM_NONCE = /^0x[0-9a-f]{64}$/i;
const INTEGER = /^\d{1,78}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A Solana transaction is at most one packet. */
const SOLANA_TRANSACTION_BYTES_MAX = 1232;
const SIGNATURE_BYTES = 64;
/** The work comes before the settlement. */
const SECONDS_LEFT_MIN = 10n;

/**
 * Returns the identity of a payload for a requirement, or the reason why it cannot pay it. What the payload says
 * itself is held against the requirement here; whether its signature is right, the facilitator knows.
 */
export function identify(
  payload: Payload,
  requirement: Requirement,
  network: Network,
): PaymentIdentity | string {
  return network.kind === "evm"
    ? identifyAuthorization(payload, requirement)
    : identifyTransaction(payload, requirement);
}

/** Returns why a payment cannot be taken at this time, or null. What was taken before is good for its answer at any time. */
export function untimely({ validity }: PaymentIdentity, nowMs: number): string | null {
  if (validity === null) return null;
  const nowSeconds = BigInt(Math.floor(nowMs / 1000));
  if (validity.after > nowSeconds) return "the authorization is not good yet";
  if (validity.before <= nowSeconds) return "the authorization has expired";
  if (validity.before > nowSeconds + SECONDS_LEFT_MIN) return null;
  return `the authorization expires within ${SECONDS_LEFT_MIN} s, too soon to be settled behind the work`;
}

function identifyAuthorization(
  { authorization, signature }: Payload,
  requirement: Requirement,
): PaymentIdentity | string {
  if (!isRecord(authorization)) return "the payload must hold an EIP-3009 authorization";
  if (typeof signature !== "string" || !/^0x([0-9a-f]{2})+$/i.test(signature))
    return "the signature is missing";
  const { from, to, value, nonce, validAfter, validBefore } = authorization;
  if (!matches(from, EVM_ADDRESS)) return "authorization.from must be an address";
  if (!matches(to, EVM_ADDRESS)) return "authorization.to must be an address";
  if (!matches(nonce, EVM_NONCE)) return "authorization.nonce must be 32 bytes in hexadecimal";
  if (!matches(value, INTEGER)) return "authorization.value must be a whole number as text";
  if (!matches(validAfter, INTEGER)) return "authorization.validAfter must be a whole number as text";
  if (!matches(validBefore, INTEGER)) return "authorization.validBefore must be a whole number as text";
  if (to.toLowerCase() !== requirement.payTo.toLowerCase()) return "the authorization pays another address";
  if (BigInt(value) !== BigInt(requirement.amount)) return "the authorization is of another amount";
  const payer = from.toLowerCase();
  return {
    ...identity(requirement.network, payer, nonce.toLowerCase(), signature.toLowerCase()),
    validity: { after: BigInt(validAfter), before: BigInt(validBefore) },
  };
}

function identifyTransaction({ transaction }: Payload, { network }: Requirement): PaymentIdentity | string {
  if (typeof transaction !== "string" || !BASE64.test(transaction))
    return "the payload must hold a transaction";
  const bytes = Buffer.from(transaction, "base64");
  // The count of signatures takes one byte: a packet has no room for 128 of them.
  const count = bytes[0] ?? 0;
  const start = 1 + count * SIGNATURE_BYTES;
  if (bytes.length > SOLANA_TRANSACTION_BYTES_MAX || count === 0 || count > 127 || start >= bytes.length) {
    return "the transaction cannot be decoded";
  }
  const message = sha256(bytes.subarray(start));
  return identity(network, null, message, bytes.toString("base64"));
}

function identity(network: string, payer: string | null, nonce: string, signed: string): PaymentIdentity {
  const id = `pay_${sha256(`${network}\n${payer ?? ""}\n${nonce}`).slice(0, 32)}`;
  return { id, payer, nonce, proof: sha256(`${nonce}\n${signed}`), validity: null };
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isRecord(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
