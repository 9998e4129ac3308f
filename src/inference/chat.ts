import { randomUUID } from "node:crypto";
import type { FairShares } from "../billing/fair-shares.ts";
import type { KeptAnswer } from "../payments/kept-answer.ts";
import type { Payment, PreparedAnswer, SettledPayment } from "../payments/paid-call.ts";
import type { Clock } from "../platform/clock.ts";
import { isObject } from "../platform/json-value.ts";
import { type Steps, stepsFor } from "../platform/steps.ts";
import type { IssuedReceiptRow } from "../store/receipt-port.ts";
import { type ChatRequest, upstreamBody } from "./chat-request.ts";
import { withMembers } from "./json-members.ts";
import type { PaidChat, ReceiptLedger } from "./receipt-ledger.ts";
import { relayStream } from "./relay.ts";
import { notServed } from "./tariff.ts";
import type { UpstreamRefusal } from "./upstream.ts";
import { jsonInSteps } from "./upstream-json.ts";
import type { Upstreams } from "./upstreams.ts";

/** One paid chat completion. */
export type ChatCall = Pick<PaidChat, "resourceUrl" | "quoteId" | "requestSha256"> & {
  readonly request: ChatRequest;
  /** The model's name at the upstream; null where it is not served any more, and the work throws `not_found`. */
  readonly upstreamModel: string | null;
  /** The service's origin, for the addresses of receipts. */
  readonly origin: string;
  /** Aborted when the caller leaves before the answer. */
  readonly signal: AbortSignal;
};

/** What a paid route needs of it. */
export type ChatWork = {
  readonly work: (payment: Payment) => Promise<PreparedAnswer>;
  readonly finish: (answer: KeptAnswer, payment: SettledPayment) => Promise<KeptAnswer>;
};

export type ChatDependencies = {
  readonly upstreams: Upstreams;
  readonly ledger: ReceiptLedger;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  /** Of an answer in one piece, and of a stream as put together. */
  readonly answerBytesMax: number;
  /** The memory of running streams, shared among payers. */
  readonly room: Pick<FairShares, "take" | "release">;
  /** For what is done with large answers in one piece. */
  readonly step: Steps;
};

const JSON_TYPE = "application/json; charset=utf-8";
const STREAM_TYPE = "text/event-stream; charset=utf-8";

/** Creates the work of chat completions: paid with the first token, with a receipt of the whole answer. */
export function createChatWork(dependencies: ChatDependencies): (call: ChatCall) => ChatWork {
  const { upstreams, ledger, clock, keepAliveMs, answerBytesMax, room, step } = dependencies;
  return (call) => {
    const { request, upstreamModel, origin } = call;
    const startedAt = clock.now();
    const startedMs = clock.monotonic();
    let firstTokenMs = 0;
    const chatOf = (): PaidChat => ({
      resourceUrl: call.resourceUrl,
      quoteId: call.quoteId,
      requestSha256: call.requestSha256,
      modelRequested: request.model,
      startedAt,
      firstTokenMs,
    });

    return {
      async work() {
        const { signal } = call;
        if (upstreamModel === null) throw notServed(request.model);
        const body = upstreamBody(request, upstreamModel);
        const reply = await upstreams.ask({ body, isStream: request.isStream, signal });
        firstTokenMs = clock.monotonic() - startedMs;
        if (reply.kind === "refused") return refusalAnswer(reply.refusal);
        if (reply.kind === "answer") {
          return { kind: "answer", status: 200, headers: { "Content-Type": JSON_TYPE }, body: reply.text };
        }
        const { stream } = reply;
        return {
          kind: "stream",
          cancel: stream.cancel,
          start(settled) {
            const receiptId = ledger.begin(settled, chatOf());
            const relay = relayStream(stream, {
              includesUsage: request.includesUsage,
              keepAliveMs,
              answerBytesMax,
              room: {
                take: (bytes) => room.take(settled.payer, bytes),
                release: (bytes) => room.release(settled.payer, bytes),
              },
              onEnd: (ending) => receiptFields(ledger.issue(receiptId, ending), origin),
            });
            const headers = { ...STREAM_HEADERS, ...receiptHeaders(receiptId, origin) };
            const keptAnswer = (text: string | null): KeptAnswer | null =>
              text === null ? null : { status: 200, headers, body: text };
            return { status: 200, headers, body: relay.body, kept: relay.kept.then(keptAnswer) };
          },
        };
      },
      async finish(answer, payment) {
        if (answer.headers["Content-Type"] === STREAM_TYPE) return answer;
        const steps = stepsFor(answer.body.length, step);
        const issued = ledger.findByPayment(payment.paymentId) ?? (await issueWhole(answer, payment, steps));
        return {
          ...answer,
          headers: { ...answer.headers, ...receiptHeaders(issued.receiptId, origin) },
          body: await steps(() => withMembers(answer.body, receiptFields(issued, origin))),
        };
      },
    };

    /** Issues the receipt of a complete answer. */
    async function issueWhole(
      answer: KeptAnswer,
      payment: SettledPayment,
      steps: Steps,
    ): Promise<IssuedReceiptRow> {
      const whole = await jsonInSteps(answer.body, steps);
      const { choices = [], usage = null, model = null } = isObject(whole) ? whole : {};
      return steps(() =>
        ledger.issue(ledger.begin(payment, chatOf()), {
          outcome: "complete",
          model_served: typeof model === "string" ? model : null,
          usage: isObject(usage) ? usage : null,
          choices: Array.isArray(choices) ? choices : [],
        }),
      );
    }
  };
}

const STREAM_HEADERS = { "Content-Type": STREAM_TYPE, "X-Accel-Buffering": "no" };

/** Returns an unguessable id. */
export function newReceiptId(): string {
  return `rcpt_${randomUUID().replaceAll("-", "")}`;
}

function verifyUrlOf(receiptId: string, origin: string): string {
  return `${origin}/v1/receipts/${receiptId}`;
}

function receiptHeaders(receiptId: string, origin: string) {
  return { "X-Receipt-Id": receiptId, "X-Verify-Url": verifyUrlOf(receiptId, origin) };
}

function receiptFields({ receiptId, jws }: IssuedReceiptRow, origin: string) {
  return {
    receipt: JSON.stringify(jws),
    verify_url: JSON.stringify(verifyUrlOf(receiptId, origin)),
  };
}

/** Returns the refusal of the request, in OpenAI's shape. Nothing is charged. */
function refusalAnswer({ status, message, type, param, code }: UpstreamRefusal): PreparedAnswer {
  const error = {
    code: code ?? (status === 404 ? "not_found" : "invalid_request"),
    message,
    type: type ?? "invalid_request_error",
    param,
  };
  // A client that retries by itself would have the operator pay for the same answer again.
  const headers = { "Content-Type": JSON_TYPE, ...(status >= 500 ? { "x-should-retry": "false" } : {}) };
  return { kind: "answer", status, headers, body: JSON.stringify({ error }) };
}
