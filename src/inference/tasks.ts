import { keyedHash } from "../billing/encryption.ts";
import { ApiError } from "../contract/errors.ts";
import type { Offer } from "../payments/offer.ts";
import type { PaidCall, PaidReply } from "../payments/paid-call.ts";
import type { Payments } from "../payments/payments.ts";
import type { Clock } from "../platform/clock.ts";
import { isObject, parseObject } from "../platform/json-value.ts";
import { removeInSlices } from "../platform/slices.ts";
import type { TaskRow, TaskStore } from "../store/task-port.ts";
import { openTaskText, sealTaskText, type TaskRun } from "./task-texts.ts";

/** A task on the wire. */
export type TaskView = {
  readonly task_id: string;
  readonly status: "running" | "done" | "failed";
  readonly created_at: string;
  readonly ended_at: string | null;
  readonly expires_at: string;
  readonly answer: unknown;
  readonly error: unknown;
};

/** Asynchronous calls, whose answers are fetched later. */
export type Tasks = AsyncDisposable & {
  /** As `Payments.take`, but answers once the payment is verified and reserved; the work continues. */
  readonly take: (call: PaidCall) => Promise<PaidReply>;
  readonly find: (taskId: string) => TaskView | null;
  /** Continues the tasks of a former process. */
  readonly start: () => void;
  readonly prune: (signal: AbortSignal) => Promise<void>;
  readonly running: () => number;
};

export type TasksDependencies = {
  readonly store: TaskStore;
  readonly payments: Pick<Payments, "take">;
  readonly clock: Clock;
  /** Derives the ids, and encrypts the calls. */
  readonly secret: string;
  readonly reportError: (error: unknown) => void;
  /** Resolves after a time, or once the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Creates the work of a stored call. */
  readonly workOf: (call: SentCall, signal: AbortSignal) => Pick<PaidCall, "work" | "finish">;
  /** Returns the address of a task's status. */
  readonly statusUrlOf: (call: SentCall, taskId: string) => string;
};

/** The parts of a call that determine its answer. */
export type SentCall = {
  readonly offer: Offer;
  readonly request: string;
  readonly headers: { readonly [name: string]: string };
};

/** How long an answer is kept. */
const KEPT_MS = 24 * 3_600_000;
/** The validity of a payment: a task that has not ended by then has failed. */
const RUNNING_MS_MAX = 15 * 60_000;
const RETRY_MS = 2000;
/** Up to this the wait doubles where the outcome of the payment is unknown: that may last as long as the answer is kept. */
const RETRY_MS_MAX = 300_000;
const RUNNING_MAX = 1000;
const PRUNED_ROWS_MAX = 100;
const PAYMENT_HEADERS = ["payment-signature", "x-payment"];

export function createTasks(dependencies: TasksDependencies): Tasks {
  const { store, payments, clock, secret, reportError, pause } = dependencies;
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();

  function sentCall({ offer, request, headers }: PaidCall): SentCall {
    const kept = PAYMENT_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    return { offer, request, headers: Object.fromEntries(kept) };
  }

  function idOf(paymentId: string, call: SentCall): string {
    return `task_${keyedHash(secret, `task\n${paymentId}\n${call.request}`).slice(0, 40)}`;
  }

  /** Writes a task that runs; one that has failed runs again, as its payment was not charged and may still buy the answer. */
  function write(taskId: string, call: SentCall): void {
    const former = store.find(taskId);
    if (former !== undefined && former.state !== "failed") return;
    const now = clock.now();
    // Also where both runs begin in the same millisecond, or the clock was set back.
    const createdAt = Math.max(now, (former?.createdAt ?? 0) + 1);
    const row = {
      taskId,
      state: "running",
      createdAt,
      endedAt: null,
      expiresAt: now + RUNNING_MS_MAX + KEPT_MS,
    } as const;
    store.begin(row, sealTaskText("call", row, JSON.stringify(call), secret));
  }

  function end(run: TaskRun, state: "done" | "failed", body: string): void {
    const at = clock.now();
    const answer = sealTaskText("answer", run, body, secret);
    store.end(run, { state, answer, at, expiresAt: at + KEPT_MS });
  }

  /** Ends the run with a reply; false where the reply leaves the outcome open. */
  function settleWith(run: TaskRun, reply: PaidReply): boolean {
    if (typeof reply.body !== "string") throw new Error("a task is no stream");
    // The next process continues the tasks that the end of this one interrupts.
    if (stopping.signal.aborted && reply.status !== 200) return true;
    // An upstream refuses a call by 409, too, which it would do again.
    if (reply.status === 503 || (reply.status === 409 && codeOf(reply) === "payment_in_use")) return false;
    end(run, reply.status === 200 ? "done" : "failed", reply.body);
    return true;
  }

  /** Sends the payment again until its outcome is known: what may have been paid is not given up for being late. */
  async function goOn(row: TaskRow): Promise<void> {
    const { createdAt, expiresAt } = row;
    const sealed = store.callOf(row.taskId);
    const text = sealed === null ? null : openTaskText("call", row, sealed, secret);
    if (text === null) return end(row, "failed", LOST);
    const call = JSON.parse(text) as SentCall;
    for (let unknown = 0; !stopping.signal.aborted; ) {
      const reply = await takeSent(call).catch(asFailure);
      if (settleWith(row, reply)) return;
      const now = clock.now();
      if (now >= expiresAt) return;
      const isUnknown = codeOf(reply) === "settlement_unknown";
      if (now - createdAt > RUNNING_MS_MAX && !isUnknown) return end(row, "failed", LATE);
      await pause(isUnknown ? Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** unknown) : RETRY_MS, stopping.signal);
      unknown = isUnknown ? unknown + 1 : 0;
    }
  }

  function takeSent(call: SentCall): Promise<PaidReply> {
    const { work, finish } = dependencies.workOf(call, stopping.signal);
    return payments.take({
      offer: call.offer,
      request: call.request,
      headers: new Headers(call.headers),
      work,
      ...(finish === undefined ? {} : { finish }),
    });
  }

  function follow(work: Promise<void>): void {
    const followed = work.catch(reportError).finally(() => underWay.delete(followed));
    underWay.add(followed);
  }

  function asFailure(error: unknown): PaidReply {
    const isKnown = error instanceof ApiError;
    if (!isKnown && !stopping.signal.aborted) reportError(error);
    const { status, code, message } = isKnown ? error : new ApiError("internal_error");
    return { status, headers: {}, body: JSON.stringify({ error: { code, message } }) };
  }

  return {
    async take(call) {
      const sent = sentCall(call);
      let taskId: string | null = null;
      const accepted = Promise.withResolvers<PaidReply>();
      const acceptedReply = (id: string): PaidReply => ({
        status: 202,
        headers: {},
        body: JSON.stringify({ task_id: id, status_url: dependencies.statusUrlOf(sent, id) }),
      });
      const { work, finish } = dependencies.workOf(sent, stopping.signal);
      let paymentId = "";
      const taking = payments.take({
        ...call,
        ...(finish === undefined ? {} : { finish }),
        onPayment: (id) => {
          paymentId = id;
          call.onPayment?.(id);
        },
        work: (payment) => {
          taskId = idOf(payment.paymentId, sent);
          write(taskId, sent);
          accepted.resolve(acceptedReply(taskId));
          return work(payment);
        },
      });
      const taken = taking.then((reply) => {
        if (reply.status !== 200 || taskId !== null) return reply;
        // Settled only now, or before: the task that has failed for want of the payment has its answer.
        taskId = idOf(paymentId, sent);
        write(taskId, sent);
        return reply;
      });
      follow(
        taken.catch(asFailure).then(async (reply) => {
          const row = taskId === null ? undefined : store.find(taskId);
          if (row === undefined) return;
          if (!settleWith(row, reply)) await goOn(row);
        }),
      );
      const first = await Promise.race([accepted.promise, taken]);
      // The payment has bought this answer before.
      return first.status === 200 ? acceptedReply(idOf(paymentId, sent)) : first;
    },
    find(taskId) {
      const row = store.find(taskId);
      if (row === undefined || row.expiresAt <= clock.now()) return null;
      const sealed = store.answerOf(taskId);
      return viewOf(row, sealed === null ? null : openTaskText("answer", row, sealed, secret));
    },
    start() {
      for (const row of store.running(RUNNING_MAX)) follow(goOn(row));
    },
    prune(signal) {
      return removeInSlices((limit) => store.removeExpired(clock.now(), limit), PRUNED_ROWS_MAX, signal);
    },
    running: () => underWay.size,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

const LOST = JSON.stringify({
  error: { code: "internal_error", message: "The task was lost. Nothing was charged." },
});
const LATE = JSON.stringify({
  error: { code: "upstream_failed", message: "The task was not done in time. Nothing was charged." },
});

/** Returns the code of a refusal. */
function codeOf({ body }: PaidReply): unknown {
  const error = typeof body === "string" ? parseObject(body)?.error : undefined;
  return isObject(error) ? error.code : undefined;
}

function viewOf(row: TaskRow, text: string | null): TaskView {
  const body = text === null ? null : JSON.parse(text);
  return {
    task_id: row.taskId,
    status: row.state,
    created_at: new Date(row.createdAt).toISOString(),
    ended_at: row.endedAt === null ? null : new Date(row.endedAt).toISOString(),
    expires_at: new Date(row.expiresAt).toISOString(),
    answer: row.state === "done" ? body : null,
    error: row.state === "failed" ? (body?.error ?? null) : null,
  };
}
