import { isObject, type JsonObject } from "../platform/json-value.ts";
import { sha256 } from "../platform/sha256.ts";
import type { Network } from "./networks.ts";
import type { Requirement } from "./offer.ts";
import { solanaMessage } from "./solana-message.ts";

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
  /** What an authorization says of itself; null on Solana, where the facilitator reads it. */
  readonly authorized: Authorized | null;
  /** What was read of the payload: a facilitator that is shown more may settle something else than what was checked. */
  readonly payload: JsonObject;
};

type Authorized = {
  readonly payTo: string;
  readonly amount: bigint;
  /** When it begins and ceases to be good, in seconds since the epoch. */
  readonly after: bigint;
  readonly before: bigint;
};

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
const EVM_NONCE = /^0x[0-9a-f]{64}$/i;
const INTEGER = /^\d{1,78}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A Solana transaction is at most one packet. */
const SOLANA_TRANSACTION_BYTES_MAX = 1232;
/**
 * The work comes before the settlement, and a scan takes up to 25 s: who could let the authorization end meanwhile would
 * have the scan for nothing, as its report is there for everybody.
 */
const SECONDS_LEFT_MIN = 60n;

/** Returns the identity of a payload on a network, or the reason why it has none. Whether it is good is not looked at. */
export function identify(payload: JsonObject, network: Network): PaymentIdentity | string {
  return network.kind === "evm"
    ? identifyAuthorization(payload, network)
    : identifyTransaction(payload, network);
}

/**
 * Returns why a payment cannot pay a requirement at this time, or null: by what it says itself, as the facilitator knows
 * the rest. What was taken before is good for its answer at any time, whatever is required by then.
 */
export function unfit(
  { authorized }: PaymentIdentity,
  { payTo, amount }: Requirement,
  nowMs: number,
): string | null {
  if (authorized === null) return null;
  if (authorized.payTo !== payTo.toLowerCase()) return "the authorization pays another address";
  if (authorized.amount !== BigInt(amount)) return "the authorization is of another amount";
  const nowSeconds = BigInt(Math.floor(nowMs / 1000));
  if (authorized.after > nowSeconds) return "the authorization is not good yet";
  if (authorized.before <= nowSeconds) return "the authorization has expired";
  if (authorized.before > nowSeconds + SECONDS_LEFT_MIN) return null;
  return `the authorization expires within ${SECONDS_LEFT_MIN} s, too soon to be settled behind the work`;
}

function identifyAuthorization(
  { authorization, signature }: JsonObject,
  network: Network,
): PaymentIdentity | string {
  if (!isObject(authorization)) return "the payload must hold an EIP-3009 authorization";
  if (typeof signature !== "string" || !/^0x([0-9a-f]{2})+$/i.test(signature))
    return "the signature is missing";
  const { from, to, value, nonce, validAfter, validBefore } = authorization;
  if (!matches(from, EVM_ADDRESS)) return "authorization.from must be an address";
  if (!matches(to, EVM_ADDRESS)) return "authorization.to must be an address";
  if (!matches(nonce, EVM_NONCE)) return "authorization.nonce must be 32 bytes in hexadecimal";
  if (!matches(value, INTEGER)) return "authorization.value must be a whole number as text";
  if (!matches(validAfter, INTEGER)) return "authorization.validAfter must be a whole number as text";
  if (!matches(validBefore, INTEGER)) return "authorization.validBefore must be a whole number as text";
  return {
    ...identity(network, from.toLowerCase(), nonce.toLowerCase(), signature.toLowerCase()),
    payload: { signature, authorization: { from, to, value, validAfter, validBefore, nonce } },
    authorized: {
      payTo: to.toLowerCase(),
      amount: BigInt(value),
      after: BigInt(validAfter),
      before: BigInt(validBefore),
    },
  };
}

function identifyTransaction({ transaction }: JsonObject, network: Network): PaymentIdentity | string {
  if (typeof transaction !== "string" || !BASE64.test(transaction))
    return "the payload must hold a transaction";
  const bytes = Buffer.from(transaction, "base64");
  const message = bytes.length > SOLANA_TRANSACTION_BYTES_MAX ? null : solanaMessage(bytes);
  if (message === null) return "the transaction cannot be decoded";
  const sent = bytes.toString("base64");
  return {
    ...identity(network, null, sha256(message), sent),
    payload: { transaction: sent },
    authorized: null,
  };
}

function identity(network: Network, payer: string | null, nonce: string, signed: string) {
  const id = `pay_${sha256(`${network.id}\n${payer ?? ""}\n${nonce}`).slice(0, 32)}`;
  return { id, payer, nonce, proof: sha256(`${nonce}\n${signed}`) };
}

function matches(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}
