import { randomBytes } from "node:crypto";
import { createSyncer } from "../../src/directory/sync/sync-dependencies.ts";
import type { Syncer, SyncSettings } from "../../src/directory/sync/syncer.ts";
import type { UpstreamLimits } from "../../src/directory/upstream/upstream-limits.ts";
import type { Clock } from "../../src/platform/clock.ts";

export const START = Date.parse("2026-03-01T12:00:00Z");

export type TestClock = Clock & { readonly advance: (ms: number) => void };

export function testClock(start = START): TestClock {
  let passed = 0;
  return {
    now: () => start + passed,
    monotonic: () => passed,
    advance: (ms) => {
      passed += ms;
    },
  };
}

/** A record as an upstream writes it; loose, so that tests can break it. */
export type TestListing = {
  host: string;
  service_name: string | null;
  description: string;
  endpoints: number;
  score: number;
  evidence: {
    pay_to: string;
    uptime_30d: number | null;
    probes_30d: number;
    median_latency_ms: number | null;
    payers_30d: number;
    settlements_30d: number;
    last_paid: string | null;
    pay_to_changed_at?: string | null;
    price_usd: string | null;
  };
  resources: { url: string; score: number; price_usd: string | null }[];
  judged_by: string;
};

export function payee(number: number): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/** The n-th of a family of valid records, all of them different. */
export function listing(n: number, change: (record: TestListing) => void = () => {}): TestListing {
  const host = `service-${String(n).padStart(5, "0")}.example`;
  const url = `https://${host}/v1/run`;
  const price = ((n * 7919) % 1_000_000) + 1;
  const record: TestListing = {
    host,
    service_name: n % 7 === 0 ? null : `Service ${n}`,
    description: `Does ${WORDS[n % WORDS.length]} and ${WORDS[(n * 3 + 1) % WORDS.length]} number ${n}`,
    endpoints: 1,
    score: (n * 37) % 101,
    evidence: {
      pay_to: payee(n + 1),
      uptime_30d: ((n * 13) % 1000) / 1000,
      probes_30d: 4320,
      median_latency_ms: n % 11 === 0 ? null : (n * 17) % 3000,
      payers_30d: (n * 5) % 400,
      settlements_30d: (n * 29) % 9000,
      last_paid: n % 5 === 0 ? null : new Date(START - (n % 1000) * 3_600_000).toISOString(),
      pay_to_changed_at: null,
      price_usd: n % 13 === 0 ? null : `0.${String(price).padStart(6, "0").slice(-6)}`,
    },
    resources: [{ url, score: (n * 37) % 101, price_usd: "0.010000" }],
    judged_by: `https://judge.example/v1/check?resource=${encodeURIComponent(url)}`,
  };
  change(record);
  return record;
}

const WORDS = [
  "translation",
  "weather",
  "scraping",
  "chat completions",
  "image search",
  "transcription",
  "maps",
];

export function listings(count: number, from = 0): TestListing[] {
  return Array.from({ length: count }, (_, at) => listing(from + at));
}

export function lines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Limits short enough for tests that run into them. */
export const TEST_LIMITS: UpstreamLimits = {
  connectTimeoutMs: 300,
  idleTimeoutMs: 300,
  totalTimeoutMs: 900,
  rawBytesMax: 4 * 1024 * 1024,
  inflatedBytesMax: 8 * 1024 * 1024,
};

/** The sync side in this thread, over a real folder and real sockets, with a clock of the test's. */
export function openSyncer(
  settings: Partial<SyncSettings> & { readonly folder: string },
  options: {
    readonly clock?: Clock;
    readonly limits?: UpstreamLimits;
  } = {},
): Syncer {
  return createSyncer(
    { upstream: null, file: null, allowPrivateUpstream: true, allowRedirects: false, ...settings },
    {
      lookUp: async () => ({ ok: true, addresses: ["127.0.0.1"] }),
      clock: options.clock ?? testClock(),
      newId: () => randomBytes(8).toString("hex"),
      limits: options.limits ?? TEST_LIMITS,
    },
  );
}

/** An upstream of a few lines that speaks the two feeds, to be led astray by tests. */
export type TestUpstream = Disposable & {
  readonly url: string;
  epoch: string;
  version: number;
  ageSeconds: number;
  readonly records: Map<string, unknown>;
  readonly changes: unknown[];
  /** Answers instead of the upstream where it gives a response. */
  intercept: (request: Request) => Response | Promise<Response> | undefined;
  /** Paths with query, in order. */
  readonly requests: string[];
  /** Changes one host, as the upstream itself would. */
  readonly put: (record: { readonly host: string }) => void;
  readonly remove: (host: string) => void;
  exportBody: () => string;
};

export function startUpstream(records: readonly { readonly host: string }[] = []): TestUpstream {
  const upstream: Omit<TestUpstream, "url" | typeof Symbol.dispose> = {
    epoch: "first",
    version: 1,
    ageSeconds: 0,
    records: new Map(records.map((record) => [record.host, record])),
    changes: [],
    intercept: () => undefined,
    requests: [],
    put(record) {
      upstream.records.set(record.host, record);
      note({ op: "upsert", host: record.host, listing: record });
    },
    remove(host) {
      upstream.records.delete(host);
      note({ op: "delete", host });
    },
    exportBody: () => lines([...upstream.records.values()]),
  };
  const note = (change: object) => {
    upstream.version += 1;
    upstream.changes.push({ seq: upstream.changes.length + 1, ...change, at: new Date(START).toISOString() });
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      upstream.requests.push(url.pathname + url.search);
      const intercepted = await upstream.intercept(request);
      return intercepted ?? answer(upstream, request, url);
    },
  });
  return Object.assign(upstream, {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.dispose]: () => void server.stop(true),
  });
}

function answer(
  upstream: Omit<TestUpstream, "url" | typeof Symbol.dispose>,
  request: Request,
  url: URL,
): Response {
  const { epoch, version, changes } = upstream;
  const headers = {
    Age: `${upstream.ageSeconds}`,
    "X-Directory-Epoch": epoch,
    "X-Directory-Version": `${version}`,
  };
  if (url.pathname === "/v1/directory/export") {
    const etag = `"${epoch}-${version}"`;
    const withCursor = { ...headers, ETag: etag, "X-Directory-Cursor": `${epoch}.${changes.length}` };
    if (request.headers.get("if-none-match") === etag)
      return new Response(null, { status: 304, headers: withCursor });
    return new Response(upstream.exportBody(), { headers: withCursor });
  }
  if (url.pathname !== "/v1/changes") return new Response("{}", { status: 404 });
  const [cursorEpoch, after] = (url.searchParams.get("cursor") ?? "").split(".");
  if (cursorEpoch !== epoch) return new Response('{"error":{}}', { status: 404, headers });
  const limit = Number(url.searchParams.get("limit"));
  const from = changes.findIndex((change) => Number((change as { seq: number }).seq) > Number(after));
  const page = from < 0 ? [] : changes.slice(from, from + limit);
  const hasMore = from >= 0 && from + limit < changes.length;
  const last = page.at(-1) as { seq: number } | undefined;
  const body = { epoch, changes: page, next_cursor: `${epoch}.${last?.seq ?? after}`, has_more: hasMore };
  return Response.json(body, { headers });
}
