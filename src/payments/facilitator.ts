import { type JsonObject, parseObject } from "../platform/json-value.ts";
import { createSemaphore } from "../platform/semaphore.ts";
import {
  type FacilitatorAnswer,
  readFeePayers,
  readSettle,
  readVerify,
  unanswered,
} from "./facilitator-answers.ts";
import { type Offer, type Requirement, requirementV1 } from "./offer.ts";
import type { SentPayment } from "./x402-codec.ts";

/** A payment with what it pays for, as the facilitator is sent it: kept in the journal until its outcome is known. */
export type FacilitatorRequest = {
  readonly x402Version: 1 | 2;
  readonly paymentPayload: { readonly [name: string]: unknown };
  readonly paymentRequirements: object;
};

export type VerifyOutcome =
  | { readonly kind: "valid"; readonly payer: string | null }
  | { readonly kind: "invalid"; readonly reason: string; readonly detail: string }
  | { readonly kind: "unreachable"; readonly reason: string };

export type SettleOutcome =
  | { readonly kind: "settled"; readonly transaction: string; readonly payer: string | null }
  /** The facilitator says that nothing was paid. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The transaction of this settlement is on the chain, and failed there. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Nothing was sent to the facilitator, or it refused the request unread. */
  | { readonly kind: "unsent"; readonly reason: string }
  /** It may have been paid or not. */
  | { readonly kind: "unknown"; readonly reason: string };

export type Facilitator = {
  /** The number at a time must be bounded by callers. */
  readonly verify: (request: FacilitatorRequest) => Promise<VerifyOutcome>;
  readonly settle: (request: FacilitatorRequest) => Promise<SettleOutcome>;
  /** Returns the fee payer of each Solana network that it serves, by CAIP-2 id; null when it cannot be asked. */
  readonly feePayers: () => Promise<ReadonlyMap<string, string> | null>;
};

/** A facilitator that can be asked whether it is there. */
export type ReachableFacilitator = Facilitator & {
  /** Returns whether it replies, whatever it says but that it fails. */
  readonly replies: () => Promise<boolean>;
};

/** Status and text of a facilitator's answer, or why there is none; not sent where surely no byte of the request was. */
type FacilitatorReply =
  | { readonly ok: true; readonly status: number; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly isSent: boolean };

/** Sends one request and returns its answer, or none where it does not come within the deadline. */
export type FacilitatorFetch = (
  url: string,
  options: { readonly body: string | null; readonly deadlineMs: number; readonly bytesMax: number },
) => Promise<FacilitatorReply>;

export type FacilitatorOptions = {
  /** Without a slash at the end. */
  readonly url: string;
  readonly fetch: FacilitatorFetch;
  readonly verifyDeadlineMs: number;
  readonly settleDeadlineMs: number;
};

/** Payments that are settled at a time; the deadline of the others begins with their turn. */
const SETTLEMENTS_MAX = 32;
/** The first call waits for it. */
const SUPPORTED_DEADLINE_MS = 3000;
const ANSWER_BYTES_MAX = 262_144;

/** Returns what the facilitator is sent for a payment that matches a requirement, with what was read of its payload. */
export function facilitatorRequest(
  { x402Version, sent }: SentPayment,
  payload: JsonObject,
  requirement: Requirement,
  { resource }: Offer,
): FacilitatorRequest {
  if (x402Version === 2) {
    const paymentPayload = { ...sent, accepted: requirement, payload };
    return { x402Version, paymentPayload, paymentRequirements: requirement };
  }
  const paymentRequirements = requirementV1(requirement, resource);
  return { x402Version, paymentPayload: { ...sent, payload }, paymentRequirements };
}

/** Returns the client of one facilitator. None of its functions rejects. */
export function createFacilitator(options: FacilitatorOptions): ReachableFacilitator {
  const { url, fetch, verifyDeadlineMs, settleDeadlineMs } = options;
  const ask = async (path: string, body: object | null, deadlineMs: number): Promise<FacilitatorAnswer> => {
    try {
      const reply = await fetch(`${url}/${path}`, {
        body: body === null ? null : JSON.stringify(body),
        deadlineMs,
        bytesMax: ANSWER_BYTES_MAX,
      });
      if (!reply.ok) return unanswered(reply.reason, reply.isSent);
      return { status: reply.status, fields: parseObject(reply.text), isSent: true };
    } catch (error) {
      return unanswered(error instanceof Error ? error.message : error, true);
    }
  };
  const askSupported = () => ask("supported", null, Math.min(SUPPORTED_DEADLINE_MS, verifyDeadlineMs));
  const settlements = createSemaphore(SETTLEMENTS_MAX);
  return {
    verify: async (request) => readVerify(await ask("verify", request, verifyDeadlineMs)),
    async settle(request) {
      const release = await settlements.acquire();
      try {
        return readSettle(await ask("settle", request, settleDeadlineMs), request);
      } finally {
        release();
      }
    },
    feePayers: async () => readFeePayers(await askSupported()),
    async replies() {
      const { status } = await askSupported();
      return status > 0 && status < 500;
    },
  };
}
