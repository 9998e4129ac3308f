import { isObject, type JsonObject } from "../platform/json-value.ts";
import { sha256 } from "../platform/sha256.ts";
import type { Network } from "./networks.ts";
import type { Requirement } from "./offer.ts";
import { solanaMessage } from "./solana-message.ts";
import { EVM_ADDRESS } from "./tokens.ts";

/** The identity of a payment. */
export type PaymentIdentity = {
  /** `pay_` and 32 hex digits, derived from network, payer and nonce: the same on every call. */
  readonly id: string;
  /** The address that pays; null on Solana, where only the facilitator knows it. */
  readonly payer: string | null;
  /** The nonce of an authorization, or the SHA-256 of a transaction's message. */
  readonly nonce: string;
  /** SHA-256 of the signed payment, which proves possession of it. */
  readonly proof: string;
  /** The fields of an authorization; null on Solana, where the facilitator reads them. */
  readonly authorized: Authorized | null;
  /** The validated fields of the payload: from further ones a facilitator might settle something else. */
  readonly payload: JsonObject;
};

type Authorized = {
  readonly payTo: string;
  readonly amount: bigint;
  /** Its validity, in seconds since the epoch. */
  readonly after: bigint;
  readonly before: bigint;
};

const EVM_NONCE = /^0x[0-9a-f]{64}$/i;
const INTEGER = /^\d{1,78}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A Solana transaction is at most one packet. */
const SOLANA_TRANSACTION_BYTES_MAX = 1232;
/**
 * The work precedes the settlement, and a scan takes up to 25 s: with an authorization that expires meanwhile it would be
 * free, as its report is public.
 */
const SECONDS_LEFT_MIN = 60n;

/** Returns the identity of a payload on a network, or the reason why it has none. Does not validate the payment. */
export function identify(payload: JsonObject, network: Network): PaymentIdentity | string {
  return network.kind === "evm"
    ? identifyAuthorization(payload, network)
    : identifyTransaction(payload, network);
}

/**
 * Returns why a payment cannot pay a requirement at this time, or null. Checks its own fields only; the facilitator checks
 * the rest. Of a payment of the journal, only what was required when it was taken, and only before it is sent anew.
 */
export function unfit(
  { authorized }: PaymentIdentity,
  { payTo, amount }: Pick<Requirement, "payTo" | "amount">,
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
