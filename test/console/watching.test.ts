import { expect, test } from "bun:test";
import type { Api } from "../../src/console/page/wire/api.ts";
import type { Job } from "../../src/console/page/wire/bodies.ts";
import { watchJob } from "../../src/console/page/wire/job-events.ts";
import { Refusal, Unreachable } from "../../src/console/page/wire/refusal.ts";
import type { pause } from "../../src/platform/pause.ts";

const refusal = (status: number, code: string) => new Refusal(code, { status, code, requestId: null });
const events = (text: string) => new Response(text, { headers: { "Content-Type": "text/event-stream" } });
const event = (id: number, status: string) => `id: ${id}\ndata: {"status":"${status}"}\n\n`;

/** Waits that are over at once, but for those for a connection that brings nothing. */
const hasty = (ms: number) => (ms === 25_000 ? new Promise<void>(() => {}) : Promise.resolve());

/** Watches a job whose stream is opened with these outcomes, one after another. */
async function watched(outcomes: readonly (Response | Error)[], wait: typeof pause = hasty) {
  const left = [...outcomes];
  const asked: unknown[] = [];
  const seen: string[] = [];
  const watch = new AbortController();
  const open: Api["open"] = async (_path, init) => {
    asked.push(new Headers(init?.headers).get("Last-Event-ID"));
    const next = left.shift();
    if (next === undefined) {
      watch.abort();
      throw new Error("asked once too often");
    }
    if (next instanceof Error) throw next;
    return next;
  };
  const onJob = ({ status }: Job) => void seen.push(status);
  await watchJob({ open } as Api, "job_1", onJob, watch.signal, wait);
  return { asked, seen, left: left.length };
}

test("a list is watched on from where it stood, whatever was between here and the server for a while", async () => {
  const outcomes = [
    events(event(1, "queued") + event(2, "running")),
    new Unreachable("gone"),
    refusal(502, "unreadable_reply"),
    refusal(503, "starting"),
    refusal(429, "rate_limited"),
    events(event(3, "completed")),
  ];
  expect(await watched(outcomes)).toEqual({
    asked: [null, "2", "2", "2", "2", "2"],
    seen: ["queued", "running", "completed"],
    left: 0,
  });
});

test("a list whose stream breaks behind its end is watched no longer once the server has nothing more", async () => {
  let pulls = 0;
  const broken = new ReadableStream<Uint8Array>({
    pull(body) {
      pulls += 1;
      if (pulls > 1) body.error(new Error("reset"));
      else body.enqueue(new TextEncoder().encode(event(1, "completed")));
    },
  });
  const outcomes = [new Response(broken), new Response(null, { status: 204 })];
  expect(await watched(outcomes)).toEqual({ asked: [null, "1"], seen: ["completed"], left: 0 });
});

test("a list is watched on from where it stood once its stream has brought nothing for 25 seconds", async () => {
  let isClosed = false;
  let pulls = 0;
  const halfOpen = new ReadableStream<Uint8Array>({
    pull(body) {
      pulls += 1;
      if (pulls === 1) body.enqueue(new TextEncoder().encode(event(1, "running")));
      return pulls === 1 ? undefined : new Promise(() => {});
    },
    cancel() {
      isClosed = true;
    },
  });
  const silences: (() => void)[] = [];
  const seen = watched([new Response(halfOpen), events(event(2, "completed"))], (ms) => {
    if (ms !== 25_000) return Promise.resolve();
    return new Promise((resolve) => void silences.push(resolve));
  });
  while (silences.length < 2) await new Promise(setImmediate);
  silences[1]?.();
  expect(await seen).toEqual({ asked: [null, "1"], seen: ["running", "completed"], left: 0 });
  expect(isClosed).toBe(true);
});

test.each([401, 403, 404])("a list is watched no longer once the server answers %i", async (status) => {
  expect((await watched([refusal(status, "no"), events(event(1, "completed"))])).left).toBe(1);
});
