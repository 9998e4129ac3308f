import { expect, test } from "bun:test";
import type { Call } from "../../src/http/call.ts";
import { createDownloadShares, type DownloadShares } from "../../src/http/jobs/download-shares.ts";
import { downloadOf } from "../../src/http/jobs/job-download.ts";
import type { Job } from "../../src/jobs/job.ts";
import { createJobResults } from "../../src/jobs/results/results.ts";
import type { JobPool } from "../../src/jobs/thread-tasks.ts";
import { handClock } from "../billing/accounting.ts";

function callOf(signal?: AbortSignal) {
  const finished: unknown[][] = [];
  const call = {
    request: new Request("http://assay.test/", signal === undefined ? {} : { signal }),
    suspendIdleTimeout() {},
    finish: (...outcome: unknown[]) => finished.push(outcome),
    reportError() {},
    streaming: false,
  } as unknown as Call;
  return { call, finished };
}

const jobOf = (accountId: string) =>
  ({ jobId: "job_1", accountId, kind: "email", status: "completed", erasedAt: null }) as Job;

const keyWatch = { guard: { isStillValid: async () => true }, clock: handClock() };

/** Results of this many parts of 100 KB. */
const partsOf = (count: number) => ({
  length: async () => count * 100_000,
  async *read() {
    for (let part = 0; part < count; part += 1) yield new Uint8Array(100_000);
  },
});

/** The shares, with a count of the downloads that are not disposed of. */
function countedDownloads(clock = handClock()) {
  const shares = createDownloadShares({ clock });
  let underWay = 0;
  const downloads: DownloadShares = {
    ...shares,
    enter(tenant) {
      const place = shares.enter(tenant);
      underWay += 1;
      return {
        [Symbol.dispose]() {
          underWay -= 1;
          place[Symbol.dispose]();
        },
      };
    },
  };
  return { downloads, underWay: () => underWay };
}

test("each account has its share of downloads, which are in memory until they are read or their reader leaves", async () => {
  const { downloads, underWay } = countedDownloads();
  const open = async (accountId: string, parts = 30) => {
    const dependencies = { results: partsOf(parts), downloads, readerStallMs: 60_000, ...keyWatch };
    const { body } = await downloadOf(callOf().call, jobOf(accountId), {}, dependencies);
    if (!(body instanceof ReadableStream)) throw new Error("no stream");
    return body;
  };
  const [first, second, ...rest] = await Promise.all(Array.from({ length: 64 }, () => open("one")));
  await expect(open("one")).rejects.toThrow("too many results at once");
  const others = [await open("two"), await open("two")];
  expect(underWay()).toBe(66);
  expect((await new Response(first ?? null).bytes()).byteLength).toBe(3_000_000);
  await second?.cancel();
  expect(underWay()).toBe(64);
  await Promise.all([...rest, ...others].map((stream) => stream.cancel()));
  expect(underWay()).toBe(0);
});

test("of small results, too, an account has no more in memory at a time than a bounded number", async () => {
  const clock = handClock();
  const { downloads, underWay } = countedDownloads(clock);
  const bodyOf = async (accountId: string, parts: number) => {
    const dependencies = { results: partsOf(parts), downloads, readerStallMs: 60_000, ...keyWatch };
    return (await downloadOf(callOf().call, jobOf(accountId), {}, dependencies)).body;
  };
  for (let n = 0; n < 32; n += 1) expect(await bodyOf("one", 5)).toBeInstanceOf(Buffer);
  const streamed = await bodyOf("one", 5);
  expect([streamed instanceof ReadableStream, underWay()]).toEqual([true, 1]);
  expect((await new Response(streamed as ReadableStream).bytes()).byteLength).toBe(500_000);
  expect(underWay()).toBe(0);
  expect([await bodyOf("one", 0), await bodyOf("two", 5)]).toEqual([expect.any(Buffer), expect.any(Buffer)]);
  clock.advance(1_000);
  expect(await bodyOf("one", 5)).toBeInstanceOf(Buffer);
});

/** Results of jobs of one chunk, whose CSV is rendered when `rendering` resolves. */
const renderedResults = (rendering: Promise<void>) =>
  createJobResults({
    store: {
      chunkResults: (_, from) =>
        [{ n: 0, firstRow: 0, rows: 1, rowsDone: 1, form: "text" as const, lineBytes: 0 }].slice(from),
      resultBodies: () => [new Uint8Array(0)],
      inputBody: () => null,
    },
    pool: {
      runTwice: async () => {
        await rendering;
        return { bytes: new Uint8Array(3), rows: 1 };
      },
    } as unknown as JobPool,
  });

test.each([
  ["HEADs", { method: "HEAD" }],
  ["ranges", { headers: { Range: "bytes=0-9" } }],
])(
  "each job whose CSV is rendered to know its length holds one download, however many ask: %s",
  async (_, asked) => {
    const { downloads, underWay } = countedDownloads();
    const rendering = Promise.withResolvers<void>();
    const dependencies = {
      results: renderedResults(rendering.promise),
      downloads,
      readerStallMs: 60_000,
      ...keyWatch,
    };
    const lengthOf = (jobId: string) => {
      const request = new Request("http://assay.test/", asked);
      const job = { ...jobOf("one"), jobId, options: {}, table: null, chunkCount: 1 } as unknown as Job;
      return downloadOf({ ...callOf().call, request }, job, { format: "csv" }, dependencies);
    };
    const same = Array.from({ length: 70 }, () => lengthOf("job_1"));
    expect(underWay()).toBe(1);
    const others = Array.from({ length: 63 }, (_, at) => lengthOf(`job_${at + 2}`));
    expect(underWay()).toBe(64);
    await expect(lengthOf("job_65")).rejects.toThrow("too many results at once");
    const joined = lengthOf("job_1");
    rendering.resolve();
    // Ranges are downloads of their own once the length is known.
    await Promise.allSettled([joined, ...others, ...same]);
    expect(underWay()).toBe(0);
    // What is known holds nothing, and what was refused before is measured now.
    await Promise.all([lengthOf("job_1"), lengthOf("job_65")]);
    expect(underWay()).toBe(0);
  },
);

test("results that a filter skips are read no further once their caller has left", async () => {
  const leaving = new AbortController();
  const { call, finished } = callOf(leaving.signal);
  const reading = Promise.withResolvers<void>();
  const results = {
    length: async () => 0,
    async *read(_job: Job, _request: unknown, signal: AbortSignal) {
      const { promise, reject } = Promise.withResolvers<Uint8Array>();
      signal.addEventListener("abort", () => reject(signal.reason));
      reading.resolve();
      yield await promise;
    },
  };
  const { downloads, underWay } = countedDownloads();
  const dependencies = { results, downloads, readerStallMs: 1_000, ...keyWatch };
  const reply = downloadOf(call, jobOf("one"), { status: "risky" }, dependencies);
  await reading.promise;
  leaving.abort();
  await reply;
  expect([finished, underWay()]).toEqual([[[200, "cut"]], 0]);
});

test("a download under way breaks off within a second of the end of its key, and asks at most twice a second", async () => {
  const clock = handClock();
  const { downloads, underWay } = countedDownloads();
  let isStillValid = true;
  let asked = 0;
  const { call, finished } = callOf();
  const { body } = await downloadOf(
    call,
    jobOf("one"),
    {},
    {
      results: partsOf(1_000),
      downloads,
      readerStallMs: 60_000,
      clock,
      guard: {
        isStillValid: async () => {
          asked += 1;
          return isStillValid;
        },
      },
    },
  );
  if (!(body instanceof ReadableStream)) throw new Error("no stream");
  const reader = body.getReader();
  for (let part = 0; part < 120; part += 1) {
    clock.advance(10);
    expect((await reader.read()).value?.byteLength).toBe(100_000);
  }
  expect(asked).toBe(2);
  isStillValid = false;
  clock.advance(500);
  await expect(reader.read()).rejects.toThrow();
  expect([finished, underWay()]).toEqual([[[200, "cut"]], 0]);
});
