import { isObject, type JsonObject } from "../platform/json-value.ts";
import type { FacilitatorRequest, SettleOutcome, VerifyOutcome } from "./facilitator.ts";
import { findNetwork } from "./networks.ts";

const REASON_LENGTH_MAX = 200;
const TEXT_LENGTH_MAX = 2000;
/** Of those that the facilitator serves. */
const KINDS_MAX = 1000;
/**
 * Refusals of who asks, where and how often, before the request is read. Not 400 or 409, by which some facilitators report
 * what failed behind their broadcast.
 */
const UNREAD_STATUSES: readonly number[] = [401, 403, 404, 405, 429];
/** Broadcast and not yet confirmed, or given up while waiting. */
const PENDING = /pending|time[d_ -]*out/i;
/** What facilitators say of a transaction that the chain took and did not execute, where they name it. */
const FAILED_TRANSACTION = /transaction_failed$|^invalid_transaction_state$/;

/** What a facilitator answered; 0 for the status where nothing came. */
export type FacilitatorAnswer = {
  readonly status: number;
  readonly fields: JsonObject | null;
  /** Why nothing came. */
  readonly failure?: string;
  /** False where surely no byte of the request was sent. */
  readonly isSent: boolean;
};

export function unanswered(failure: unknown, isSent: boolean): FacilitatorAnswer {
  return { status: 0, fields: null, failure: reasonOf(failure), isSent };
}

export function readVerify(answer: FacilitatorAnswer): VerifyOutcome {
  const { status, fields } = answer;
  const isValid = fields?.isValid;
  if (fields !== null && isValid === true && status === 200) {
    return { kind: "valid", payer: textOf(fields.payer) };
  }
  if (fields !== null && isValid === false && status < 500) {
    const detail = textOf(fields.invalidMessage) ?? "";
    return { kind: "invalid", reason: reasonOf(fields.invalidReason), detail };
  }
  return { kind: "unreachable", reason: failureOf(answer) };
}

export function readSettle(answer: FacilitatorAnswer, request: FacilitatorRequest): SettleOutcome {
  const { status, fields } = answer;
  const success = fields?.success;
  if (fields !== null && success === true && status === 200) return readSuccess(fields, request);
  const isUnread = success === undefined && UNREAD_STATUSES.includes(status);
  if (!answer.isSent || isUnread) return { kind: "unsent", reason: failureOf(answer) };
  if (fields === null || success !== false || status >= 500) {
    return { kind: "unknown", reason: failureOf(answer) };
  }
  const reason = reasonOf(fields.errorReason);
  // It may still be paid.
  if (PENDING.test(reason)) return { kind: "unknown", reason };
  return { kind: hasFailedOnChain(fields, reason) ? "failed" : "refused", reason };
}

/** The message matters, too: a facilitator that lost track of a transaction calls it failed, and says there that it is pending. */
function hasFailedOnChain({ transaction, errorMessage }: JsonObject, reason: string): boolean {
  const isNamed = textOf(transaction) !== null && FAILED_TRANSACTION.test(reason);
  return isNamed && !PENDING.test(textOf(errorMessage) ?? "");
}

type Required = { readonly network: string; readonly amount?: string; readonly maxAmountRequired?: string };

/** A success that is not of this payment says nothing of it. */
function readSuccess(fields: JsonObject, request: FacilitatorRequest): SettleOutcome {
  const transaction = textOf(fields.transaction);
  const network = textOf(fields.network);
  if (transaction === null) return { kind: "unknown", reason: "a success without a transaction" };
  const { network: asked, ...required } = request.paymentRequirements as Required;
  const amount = textOf(fields.amount);
  if (amount !== null && amount !== (required.amount ?? required.maxAmountRequired)) {
    return { kind: "unknown", reason: "a success of another amount" };
  }
  if (network !== null && findNetwork(network)?.id !== findNetwork(asked)?.id) {
    return { kind: "unknown", reason: "a success on another network" };
  }
  return { kind: "settled", transaction, payer: textOf(fields.payer) };
}

export function readFeePayers({ fields }: FacilitatorAnswer): ReadonlyMap<string, string> | null {
  const kinds = fields?.kinds;
  if (!Array.isArray(kinds)) return null;
  const feePayers = new Map<string, string>();
  for (const kind of kinds.slice(0, KINDS_MAX)) {
    if (!isObject(kind) || kind.scheme !== "exact" || typeof kind.network !== "string") continue;
    const feePayer = isObject(kind.extra) ? kind.extra.feePayer : undefined;
    const network = findNetwork(kind.network);
    if (network?.kind === "solana" && typeof feePayer === "string" && !feePayers.has(network.id)) {
      feePayers.set(network.id, feePayer);
    }
  }
  return feePayers;
}

function failureOf({ status, failure }: FacilitatorAnswer): string {
  return failure ?? `the facilitator answered ${status}`;
}

/** Reasons are shown to callers: words of the facilitator, cut to what a reason needs. */
function reasonOf(value: unknown): string {
  if (typeof value !== "string" || value === "") return "no reason given";
  return value.replace(/[^\x20-\x7e]/g, "?").slice(0, REASON_LENGTH_MAX);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value.slice(0, TEXT_LENGTH_MAX) : null;
}
