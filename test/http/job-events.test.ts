import { expect, test } from "bun:test";
import type { Call } from "../../src/http/call.ts";
import { createEventStreamShares, jobEventStream } from "../../src/http/jobs/job-events.ts";
import type { JobRecord } from "../../src/store/job-records.ts";

const call = {
  request: new Request("http://assay.test/"),
  suspendIdleTimeout() {},
  finish() {},
  reportError() {},
  streaming: false,
} as unknown as Call;

test("each account has its share of event streams, which a cancelled stream releases", async () => {
  const shares = createEventStreamShares();
  const job = { status: "running" } as JobRecord;
  const open = (tenant: string) => {
    const { body } = jobEventStream(call, job, {
      find: async () => job,
      view: () => job,
      isEnding: () => false,
      readerStallMs: 1000,
      shares,
      tenant,
    });
    if (!(body instanceof ReadableStream)) throw new Error("no stream");
    return body;
  };
  const streams = Array.from({ length: 1024 }, () => open("one"));
  expect(() => open("one")).toThrow("too many streams of events");
  const others = [open("two"), open("two")];
  await Promise.all([...streams.slice(0, 3), ...others].map((stream) => stream.cancel()));
  expect(shares.held()).toBe(1021);
  await open("one").cancel();
});

test("a HEAD has the headers of the stream, and opens none", () => {
  const shares = createEventStreamShares();
  const job = { status: "running" } as JobRecord;
  const source = {
    find: async () => job,
    view: (job: JobRecord) => job,
    isEnding: () => false,
    readerStallMs: 1000,
    shares,
    tenant: "one",
  };
  const head = { ...call, request: new Request("http://assay.test/", { method: "HEAD" }) };
  const { status, headers } = jobEventStream(head, job, source);
  expect([status, headers, shares.held()]).toEqual([200, jobEventStream(call, job, source).headers, 0]);
});

test("a stream whose job continues ends completely once the process shuts down", async () => {
  const job = { status: "paused" } as JobRecord;
  let isEnding = false;
  const { body } = jobEventStream(call, job, {
    find: async () => job,
    view: () => job,
    isEnding: () => isEnding,
    readerStallMs: 10_000,
    shares: createEventStreamShares(),
    tenant: "one",
  });
  if (!(body instanceof ReadableStream)) throw new Error("no stream");
  const reader = body.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain("event: job");
  isEnding = true;
  expect((await reader.read()).done).toBe(true);
});

test.each([
  ["running", "running--3-1", 200],
  ["paused", "paused--3-1", 200],
  ["completed", "completed--2-1", 200],
  ["completed", "running--3-1", 200],
  ["completed", "completed--3-1", 204],
  ["failed", "failed--3-1", 204],
] as const)(
  "of a job that is %s, a reader that has seen %s is answered with %i",
  async (status, seen, reply) => {
    const job = { status, statusReason: null, processed: 3, round: 1 } as JobRecord;
    const request = new Request("http://assay.test/", { headers: { "Last-Event-ID": seen } });
    const shares = createEventStreamShares();
    const opened = jobEventStream({ ...call, request }, job, {
      find: async () => job,
      view: () => job,
      isEnding: () => false,
      readerStallMs: 1000,
      shares,
      tenant: "one",
    });
    expect([opened.status, shares.held()]).toEqual([reply, reply === 204 ? 0 : 1]);
    if (opened.body instanceof ReadableStream) await opened.body.cancel();
  },
);
