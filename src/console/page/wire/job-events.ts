import { pause } from "../../../platform/pause.ts";
import type { Api } from "./api.ts";
import type { Job } from "./bodies.ts";
import { mayPass, Refusal } from "./refusal.ts";

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** The server sends a comment every ten seconds. */
const SILENCE_MAX_MS = 25_000;
const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function isEnded(job: Job): boolean {
  return ENDED.has(job.status);
}

/**
 * Emits the job at each change until it ends, from the server's events. A broken stream is resumed where it stopped, as
 * after a restart of the server, and so is one that brings nothing for 25 seconds. Resolves when the job has ended, the signal aborts or the server refuses for good.
 */
export async function watchJob(
  api: Api,
  jobId: string,
  onJob: (job: Job) => void,
  signal: AbortSignal,
  wait: typeof pause = pause,
): Promise<void> {
  let lastId = "";
  let failures = 0;
  while (!signal.aborted) {
    try {
      const headers: { [name: string]: string } = { Accept: "text/event-stream" };
      if (lastId !== "") headers["Last-Event-ID"] = lastId;
      const reply = await api.open(`/v1/jobs/${jobId}/events`, { headers, signal });
      let isOver = reply.status === 204;
      for await (const event of eventsOf(reply, wait)) {
        failures = 0;
        if (event.id !== "") lastId = event.id;
        const job: Job = JSON.parse(event.data);
        onJob(job);
        isOver = isEnded(job);
      }
      if (isOver) return;
    } catch (error) {
      if (signal.aborted || (error instanceof Refusal && !mayPass(error))) return;
      failures += 1;
    }
    await wait(Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** failures), signal);
  }
}

type ServerEvent = { readonly id: string; readonly data: string };

/** Reads server-sent events; comments are passed over. Throws where nothing arrives for too long. */
async function* eventsOf(reply: Response, wait: typeof pause): AsyncGenerator<ServerEvent, void, undefined> {
  if (reply.body === null) return;
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await beforeSilence(reader.read(), wait);
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = fieldOf(block, "data");
        if (data !== "") yield { id: fieldOf(block, "id"), data };
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** Returns what is read. Throws where it takes too long, as with a connection whose other end is gone without a word. */
async function beforeSilence<Read>(reading: Promise<Read>, wait: typeof pause): Promise<Read> {
  const over = new AbortController();
  try {
    const silence = wait(SILENCE_MAX_MS, over.signal).then(() => null);
    const first = await Promise.race([reading.then((read) => ({ read })), silence]);
    if (first === null) throw new Error(`nothing arrived in ${SILENCE_MAX_MS} ms`);
    return first.read;
  } finally {
    over.abort();
  }
}

function fieldOf(block: string, name: string): string {
  return block
    .split("\n")
    .filter((line) => line.startsWith(`${name}: `))
    .map((line) => line.slice(name.length + 2))
    .join("\n");
}
