import { createShares, type Shares } from "../../batch/shares.ts";
import { ApiError } from "../../contract/errors.ts";
import { type JobRecord, UNFINISHED } from "../../store/job-records.ts";
import { unsentBody } from "../bodies/byte-stream.ts";
import type { Call } from "../call.ts";
import { placedStream } from "../placed-stream.ts";
import type { Reply } from "../reply.ts";

export type JobEventSource = {
  /** Null once the job is gone or the caller's key has ended, which ends the stream. */
  readonly find: () => Promise<JobRecord | null>;
  readonly view: (job: JobRecord) => { readonly status: string };
  /** True once this process is ending: readers reconnect to another one. */
  readonly isEnding: () => boolean;
  readonly readerStallMs: number;
  readonly shares: Shares;
  readonly tenant: string;
};

/** The shortest time between two events. */
const EVENT_INTERVAL_MS = 500;
const COMMENT_INTERVAL_MS = 10_000;

/** Streams that are open at a time. Each reads its job twice a second: a thousand take 5 % of the main thread. */
const STREAMS_MAX = 1024;
/** Streams that are guaranteed to each account. */
const STREAMS_GUARANTEED = 8;
const STREAMS_OVERFLOW = 8;

/** Shares the open streams among accounts. */
export function createEventStreamShares(): Shares {
  return createShares({
    capacity: STREAMS_MAX,
    guaranteed: STREAMS_GUARANTEED,
    guaranteedFirst: 1,
    overflow: STREAMS_OVERFLOW,
  });
}

/**
 * Streams the job at each change until it or this process ends, as server-sent events; 204 to a reader that has seen its
 * end. Throws `overloaded` over the account's share of open streams.
 */
export function jobEventStream(call: Call, job: JobRecord, source: JobEventSource): Reply {
  const isSeen = call.request.headers.get(LAST_EVENT_ID) === eventIdOf(job);
  if (isSeen && !UNFINISHED.includes(job.status)) return NO_MORE_EVENTS;
  // A stream for a HEAD would stay open, as nobody reads it.
  if (call.request.method === "HEAD") return { status: 200, body: unsentBody(), headers: HEADERS };
  const { readerStallMs, shares, tenant } = source;
  if (!shares.acquire(tenant, 1)) {
    throw new ApiError("overloaded", "This account has too many streams of events; close some first.");
  }
  call.suspendIdleTimeout(readerStallMs);
  const place = { [Symbol.dispose]: () => shares.release(tenant, 1) };
  const body = placedStream(call, events(call, source), { status: 200, stallMs: readerStallMs, place });
  return { status: 200, body, headers: HEADERS };
}

const LAST_EVENT_ID = "last-event-id";

/** On 204 an EventSource stops connecting; a stream without an event it would open again and again. */
const NO_MORE_EVENTS: Reply = { status: 204, body: null, headers: { "Cache-Control": "no-store" } };

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

async function* events(
  call: Call,
  { find, view, isEnding }: Pick<JobEventSource, "find" | "view" | "isEnding">,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  const { signal } = call.request;
  let shown = call.request.headers.get(LAST_EVENT_ID) ?? "";
  let quietMs = 0;
  while (!signal.aborted && !isEnding()) {
    const job = await find();
    if (job === null) return;
    const id = eventIdOf(job);
    if (id !== shown) {
      shown = id;
      quietMs = 0;
      yield encoder.encode(`id: ${id}\nevent: job\ndata: ${JSON.stringify(view(job))}\n\n`);
    } else if (quietMs >= COMMENT_INTERVAL_MS) {
      quietMs = 0;
      yield encoder.encode(": still here\n\n");
    }
    if (!UNFINISHED.includes(job.status)) return;
    await Bun.sleep(EVENT_INTERVAL_MS);
    quietMs += EVENT_INTERVAL_MS;
  }
}

/** Identifies the state that an event shows, so that a reader that reconnects gets only a new one. */
function eventIdOf({ status, statusReason, processed, round }: JobRecord): string {
  return `${status}-${statusReason ?? ""}-${processed}-${round}`;
}
