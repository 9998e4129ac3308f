import type { JobRecord } from "../store/job-port.ts";
import type { Call } from "./boundary.ts";
import { byteStream } from "./byte-stream.ts";
import type { Reply } from "./reply.ts";

export type JobEventSource = {
  /** Null once the job is gone, which ends the stream. */
  readonly find: () => Promise<JobRecord | null>;
  readonly view: (job: JobRecord) => { readonly status: string };
  readonly readerStallMs: number;
};

/** At most twice a second. */
const EVENT_INTERVAL_MS = 500;
const COMMENT_INTERVAL_MS = 10_000;
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** Streams the job at each change until it ends, as server-sent events. */
export function jobEventStream(call: Call, { find, view, readerStallMs }: JobEventSource): Reply {
  call.suspendIdleTimeout(readerStallMs);
  call.streaming = true;
  const body = byteStream(events(call, find, view), {
    stallMs: readerStallMs,
    onError: call.reportError,
    onEnd: (isComplete) => call.finish(200, isComplete ? "complete" : "cut"),
  });
  const headers = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
  };
  return { status: 200, body, headers };
}

async function* events(
  call: Call,
  find: JobEventSource["find"],
  view: JobEventSource["view"],
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  const { signal } = call.request;
  // An event's id says what it shows, so a reader who comes back is shown what is new.
  let shown = call.request.headers.get("last-event-id") ?? "";
  let quietMs = 0;
  while (!signal.aborted) {
    const job = await find();
    if (job === null) return;
    const id = `${job.status}-${job.statusReason ?? ""}-${job.processed}-${job.round}`;
    if (id !== shown) {
      shown = id;
      quietMs = 0;
      yield encoder.encode(`id: ${id}\nevent: job\ndata: ${JSON.stringify(view(job))}\n\n`);
    } else if (quietMs >= COMMENT_INTERVAL_MS) {
      quietMs = 0;
      yield encoder.encode(": still here\n\n");
    }
    if (ENDED.has(job.status)) return;
    await Bun.sleep(EVENT_INTERVAL_MS);
    quietMs += EVENT_INTERVAL_MS;
  }
}
