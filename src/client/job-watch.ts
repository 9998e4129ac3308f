import { linesOf } from "./body-lines.ts";
import type { Job } from "./contract-types.ts";
import { RefusedError, UnreachableError } from "./failure.ts";
import type { WatchOptions } from "./job-types.ts";
import type { Send } from "./transport.ts";
import type { JobStatus } from "./types.ts";

export type Wait = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

const ENDED: readonly JobStatus[] = ["completed", "failed", "cancelled"];
/** The server sends a comment every ten seconds. */
const SILENCE_MAX_MS = 25_000;
/** Before a connection is opened again that broke. */
export const REOPEN_MS = 250;
/** Streams that bring nothing before events are given up. */
const EMPTY_STREAMS_MAX = 2;
const POLL_MS = 2_000;

export function jobPath(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

export function hasEnded({ status }: Pick<Job, "status">): boolean {
  return ENDED.includes(status);
}

/**
 * Yields the job now and at each change, until it ends. A broken stream of events is resumed where it stopped; where a proxy
 * blocks events, the job is polled instead.
 */
export async function* watchJob(
  send: Send,
  wait: Wait,
  jobId: string,
  { signal, pollMs = POLL_MS }: WatchOptions,
): AsyncGenerator<Job, void, undefined> {
  let lastEventId: string | null = null;
  for (let emptyStreams = 0; emptyStreams < EMPTY_STREAMS_MAX; ) {
    emptyStreams += 1;
    for await (const { id, job } of eventsOnce(send, jobId, lastEventId, signal)) {
      emptyStreams = 0;
      lastEventId = id;
      yield job;
      if (hasEnded(job)) return;
    }
    await wait(REOPEN_MS, signal);
  }
  let seen = "";
  for (;;) {
    const job = await send("GET", jobPath(jobId), { signal }, async (reply) => (await reply.json()) as Job);
    if (JSON.stringify(job) !== seen) yield job;
    seen = JSON.stringify(job);
    if (hasEnded(job)) return;
    await wait(pollMs, signal);
  }
}

type JobEvent = { readonly id: string | null; readonly job: Job };

/** Reads the stream until it ends or breaks. Throws the server's refusal, and the signal's reason. */
async function* eventsOnce(
  send: Send,
  jobId: string,
  lastEventId: string | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<JobEvent, void, undefined> {
  const headers: { [name: string]: string } = lastEventId === null ? {} : { "Last-Event-ID": lastEventId };
  const options = { signal, accept: "text/event-stream", headers };
  const reply = await send("GET", `${jobPath(jobId)}/events`, options, async (opened) => opened);
  let id: string | null = null;
  try {
    for await (const line of linesOf(reply, SILENCE_MAX_MS)) {
      const [, field, value = ""] = /^(\w+): ?(.*?)\r?$/.exec(line) ?? [];
      if (field === "id") id = value;
      if (field === "data") yield { id, job: JSON.parse(value) };
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RefusedError || error instanceof UnreachableError) throw error;
  }
}
