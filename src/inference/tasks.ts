import { keyedHash } from "../billing/encryption.ts";
import type { FairShares } from "../billing/fair-shares.ts";
import { ApiError } from "../contract/errors.ts";
import { createLargeRepetitions } from "../payments/large-repetitions.ts";
import type { Offer } from "../payments/offer.ts";
import type { PaidCall, PaidReply } from "../payments/paid-call.ts";
import type { Payments } from "../payments/payments.ts";
import type { Clock } from "../platform/clock.ts";
import { isObject, parseObject } from "../platform/json-value.ts";
import { removeInSlices } from "../platform/slices.ts";
import { AT_ONCE_BYTES_MAX, type Steps } from "../platform/steps.ts";
import { StorageError } from "../store/storage-error.ts";
import type { TaskRow, TaskStore } from "../store/task-port.ts";
import { createBoundedLoads } from "./bounded-loads.ts";
import { taskJson } from "./task-json.ts";
import { createTaskTexts, type TaskRun } from "./task-texts.ts";

/** Asynchronous calls, whose answers are fetched later. */
export type Tasks = AsyncDisposable & {
  /** As `Payments.take`, but answers once the payment is verified and reserved; the work continues. */
  readonly take: (call: PaidCall) => Promise<PaidReply>;
  /** Returns a task on the wire, as JSON, or null. Throws `rate_limited` where a tenant reads large answers all the time. */
  readonly find: (taskId: string, tenant: string) => Promise<string | null>;
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
  /** For all that is done with large calls and answers. */
  readonly step: Steps;
  /** The bytes of the calls of tasks that have not ended, shared among payers. */
  readonly room: Pick<FairShares, "take" | "release">;
  /** The same bytes, shared among client addresses: anyone has as many payers as wallets. */
  readonly addressRoom: Pick<FairShares, "take" | "release">;
  /** Resolves after a time, or once the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Creates the work of a stored call. */
  readonly workOf: (call: SentCall, signal: AbortSignal) => Pick<PaidCall, "work" | "finish">;
  /** Returns the address of a task's status. */
  readonly statusUrlOf: (call: SentCall, taskId: string) => string;
};

/** What a try leaves a task: `unknown` where its payment may have been settled, `waiting` where it surely was not. */
type Progress = "ended" | "waiting" | "unknown";

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
/** A task counts as this many bytes at least, so that their number is bounded, too. */
const TASK_BYTES_MIN = 16_384;
/** Bytes of the calls that are read from the disk to be continued, together. */
const CONTINUED_BYTES_MAX = 33_554_432;
const PRUNED_ROWS_MAX = 100;
const PAYMENT_HEADERS = ["payment-signature", "x-payment"];

export function createTasks(dependencies: TasksDependencies): Tasks {
  const { store, payments, clock, secret, reportError, step, room, addressRoom, pause } = dependencies;
  const texts = createTaskTexts(secret, step);
  const continued = createBoundedLoads(CONTINUED_BYTES_MAX);
  const repetitions = createLargeRepetitions(clock);
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
  async function write(taskId: string, call: SentCall): Promise<TaskRow> {
    const former = store.find(taskId);
    if (former !== undefined && former.state !== "failed") return former;
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
    const text = await step(() => JSON.stringify(call));
    store.begin(row, await texts.seal("call", row, text));
    return row;
  }

  async function end(run: TaskRun, state: "done" | "failed", body: string): Promise<void> {
    // It may have its answer already, where its payment was sent again.
    if (store.find(run.taskId)?.state !== "running") return;
    const at = clock.now();
    const answer = await texts.seal("answer", run, body);
    store.end(run, { state, answer, at, expiresAt: at + KEPT_MS });
  }

  /** Ends the run with a reply, unless that leaves the outcome open. */
  async function settleWith(run: TaskRun, reply: PaidReply): Promise<Progress> {
    if (typeof reply.body !== "string") throw new Error("a task is no stream");
    // The next process continues the tasks that the end of this one interrupts.
    if (stopping.signal.aborted && reply.status !== 200) return "ended";
    const open = openProgress(reply);
    if (open !== null) return open;
    await end(run, reply.status === 200 ? "done" : "failed", reply.body);
    return "ended";
  }

  /** What could not be read or written is tried again: the payment may have been settled. */
  async function orUnknown(trying: Promise<Progress>): Promise<Progress> {
    return trying.catch((error: unknown) => {
      if (!(error instanceof StorageError)) throw error;
      if (!stopping.signal.aborted) reportError(error);
      return "unknown";
    });
  }

  /** Sends the payment again until its outcome is known: what may have been paid is not given up for being late. */
  async function goOn(row: TaskRow): Promise<void> {
    for (let unknown = 0; !stopping.signal.aborted; ) {
      const progress = await orUnknown(tryAgain(row));
      if (progress === "ended" || clock.now() >= row.expiresAt) return;
      const isUnknown = progress === "unknown";
      await pause(isUnknown ? Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** unknown) : RETRY_MS, stopping.signal);
      unknown = isUnknown ? unknown + 1 : 0;
    }
  }

  async function tryAgain(row: TaskRow): Promise<Progress> {
    const progress = await settleWith(row, await sendAgain(row));
    const now = clock.now();
    const isLate = now - row.createdAt > RUNNING_MS_MAX && now < row.expiresAt;
    if (progress !== "waiting" || !isLate) return progress;
    await end(row, "failed", LATE);
    return "ended";
  }

  /** Sends the payment of a stored call again. Between two tries its call is on the disk alone: there may be thousands. */
  function sendAgain(run: TaskRun): Promise<PaidReply> {
    return continued(
      () => callOf(run),
      (call) => call?.request.length ?? 0,
      async (call) => (call === null ? LOST : await takeSent(call).catch(asFailure)),
    );
  }

  async function callOf(run: TaskRun): Promise<SentCall | null> {
    const sealed = stopping.signal.aborted ? null : store.callOf(run.taskId);
    const text = sealed === null ? null : await texts.open("call", run, sealed);
    return text === null ? null : await step(() => JSON.parse(text) as SentCall);
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
    const unknown = error instanceof StorageError ? "storage_unavailable" : "internal_error";
    const { status, code, message } = isKnown ? error : new ApiError(unknown);
    return { status, headers: {}, body: JSON.stringify({ error: { code, message } }) };
  }

  /** Whether a task has an answer that takes long to decrypt. A larger one is not read for that. */
  function isLarge(row: TaskRow): boolean {
    if (store.answerLength(row.taskId) > AT_ONCE_BYTES_MAX) return true;
    const sealed = store.answerOf(row.taskId);
    return sealed !== null && texts.bytesOf("answer", row, sealed) > AT_ONCE_BYTES_MAX;
  }

  /** Counts a task until it is released. Throws `overloaded` where its payer or its client's address has no room left. */
  function hold(payer: string, address: string, bytes: number): () => void {
    const isHeld = room.take(payer, bytes);
    if (isHeld && addressRoom.take(address, bytes)) {
      return () => {
        room.release(payer, bytes);
        addressRoom.release(address, bytes);
      };
    }
    if (isHeld) room.release(payer, bytes);
    throw new ApiError("overloaded", "Too many tasks are under way; try again once some have ended.");
  }

  return {
    async take(call) {
      const sent = sentCall(call);
      let release = () => {};
      let row: TaskRow | null = null;
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
        work: async (payment) => {
          const id = idOf(payment.paymentId, sent);
          release = hold(payment.payer, call.tenant ?? "", Math.max(TASK_BYTES_MIN, sent.request.length));
          row = await write(id, sent);
          accepted.resolve(acceptedReply(id));
          return work(payment);
        },
      });
      const taken = taking.then(async (reply) => {
        // Settled only now, or before: the task that has failed for want of the payment has its answer.
        if (reply.status === 200) row ??= await write(idOf(paymentId, sent), sent);
        return reply;
      });
      const ended = taken.catch(asFailure).then(async (reply) => {
        if (row !== null && (await orUnknown(settleWith(row, reply))) !== "ended") await goOn(row);
      });
      follow(ended.finally(() => release()));
      const first = await Promise.race([accepted.promise, taken]);
      // The payment has bought this answer before.
      return first.status === 200 ? acceptedReply(idOf(paymentId, sent)) : first;
    },
    async find(taskId, tenant) {
      const row = store.find(taskId);
      if (row === undefined || row.expiresAt <= clock.now()) return null;
      const read = async () => {
        const sealed = store.answerOf(taskId);
        return taskJson(row, sealed === null ? null : await texts.open("answer", row, sealed));
      };
      return isLarge(row) ? repetitions.inPlace(tenant, read) : read();
    },
    start() {
      for (const row of store.running()) follow(goOn(row));
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

const LOST: PaidReply = {
  status: 500,
  headers: {},
  body: JSON.stringify({
    error: { code: "internal_error", message: "The task was lost. Nothing was charged." },
  }),
};
const LATE = JSON.stringify({
  error: { code: "upstream_failed", message: "The task was not done in time. Nothing was charged." },
});

/** Returns what a reply leaves a task that has not ended with it; null where it has. */
function openProgress(reply: PaidReply): Progress | null {
  // Others may be megabytes.
  if (reply.status !== 503 && reply.status !== 409) return null;
  const code = codeOf(reply);
  // An upstream refuses a call by 409, too, which it would do again.
  if (reply.status === 409) return code === "payment_in_use" ? "waiting" : null;
  return code === "settlement_unknown" || code === "storage_unavailable" ? "unknown" : "waiting";
}

/** Returns the code of a refusal. */
function codeOf({ body }: PaidReply): unknown {
  const error = typeof body === "string" ? parseObject(body)?.error : undefined;
  return isObject(error) ? error.code : undefined;
}
