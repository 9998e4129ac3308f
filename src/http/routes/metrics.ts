import { timingSafeEqual } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Counter, Gauge, Registry } from "prom-client";
import { ApiError } from "../../contract/errors.ts";
import { getMetrics } from "../../contract/specification/service/service.ts";
import type { Answer } from "../../platform/answer.ts";
import type { Clock } from "../../platform/clock.ts";
import { keyOf } from "../auth.ts";
import type { Call, CallReport, Handler } from "../call.ts";
import { type CallTally, createCallTally } from "../call-tally.ts";
import { oncePerSecond } from "../once-per-second.ts";
import type { Route, Routing } from "../routing.ts";

export type Metrics = {
  readonly observe: (report: CallReport) => void;
  /** The text form that Prometheus reads. */
  readonly text: () => Promise<string>;
};

/** Values that parts count themselves, read when the metrics are, by name. */
export type Readings = { readonly [name: string]: Reading };

export type Reading = {
  readonly help: string;
  /** `counter` where the value only grows while the process lives; its name then ends in `_total`. */
  readonly type: "counter" | "gauge";
  /** The label whose values `read` returns numbers by; none where it returns one number. */
  readonly label?: string;
  readonly read: () => Answer<number | ByLabel>;
};

export type ByLabel = { readonly [value: string]: number };

/** Bun counts every object for these, and calls wait meanwhile: 200 ms with a heap of 400 MB. */
const WALKS_OVER_HEAP = ["total", "used", "available"].map((word) => `nodejs_heap_space_size_${word}_bytes`);

/** The longest turn takes 0.5 ms; with all of them in one it would take 2. */
const METRICS_A_TURN = 8;

/**
 * Counts calls by route template, status and time; everything else is read from the parts on demand. What the process
 * reports of itself, such as the lag of its loop, counts from the first reading on.
 */
export function createMetrics(readings: Readings): Metrics {
  const tally = createCallTally();
  let registry: Promise<Registry> | undefined;
  return {
    observe: tally.observe,
    async text() {
      registry ??= createRegistry(tally, readings);
      const loaded = await registry.catch((error: unknown) => {
        registry = undefined;
        throw error;
      });
      // The library writes NaN in a way that Prometheus does not read.
      return (await rendered(loaded)).replaceAll(/ Nan$/gm, " NaN");
    },
  };
}

/** Renders some metrics in each turn of the event loop, so that calls run in between. All may wait for their values at once. */
async function rendered(registry: Registry): Promise<string> {
  let turn: Promise<unknown> = Promise.resolve();
  const texts = registry.getMetricsAsArray().map(({ name }, at) => {
    if (at % METRICS_A_TURN === 0) turn = turn.then(() => nextTurn());
    return turn.then(() => registry.getSingleMetricAsString(name));
  });
  return `${(await Promise.all(texts)).join("\n\n")}\n`;
}

/** Loads the library, a tenth of all the code there is, when the metrics are first read: the start does not wait for it. */
async function createRegistry(tally: CallTally, readings: Readings): Promise<Registry> {
  const library = await import("prom-client");
  const registry = new library.Registry();
  library.collectDefaultMetrics({ register: registry });
  for (const name of WALKS_OVER_HEAP) registry.removeSingleMetric(name);
  for (const metric of tally.metrics) registry.registerMetric(metric);
  for (const [name, reading] of Object.entries(readings)) addReading(library, registry, name, reading);
  return registry;
}

function addReading(
  library: typeof import("prom-client"),
  registry: Registry,
  name: string,
  { help, type, label, read }: Reading,
): void {
  const labelsOf = (value: string) => (label === undefined ? {} : { [label]: value });
  // The database of a cluster may be away: the other values are then read all the same, and this one is left out.
  const samples = async (): Promise<[string, number][]> => {
    try {
      const now = await read();
      return typeof now === "number" ? [["", now]] : Object.entries(now);
    } catch {
      return [];
    }
  };
  const Metric = type === "gauge" ? library.Gauge : library.Counter;
  new Metric({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    async collect(this: Counter | Gauge) {
      const now = await samples();
      this.reset();
      // Without a label there is a zero now, which nobody has read.
      this.remove({});
      for (const [value, number] of now) this.inc(labelsOf(value), number);
    },
  });
}

export type MetricsRouteDependencies = {
  readonly routing: Routing;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly settings: { readonly access: "loopback" | "public" | "off"; readonly token: string | null };
};

/** /metrics for Prometheus, for whom the settings METRICS and METRICS_TOKEN name; none where they are off. */
export function metricsRoutes(dependencies: MetricsRouteDependencies): readonly Route[] {
  const { routing, metrics, clock, settings } = dependencies;
  const { access, token } = settings;
  if (access === "off") return [];
  // Reading them takes up to 10 ms of the main thread in all, and no rate bounds unauthenticated readers.
  const isForAnyone = access === "public" && token === null;
  const text = isForAnyone ? oncePerSecond(clock, metrics.text) : metrics.text;
  const answer: Handler = async (call) => {
    if (token !== null) requireToken(call, token);
    else if (access === "loopback" && !isFromThisMachine(call)) throw new ApiError("not_found");
    return {
      status: 200,
      body: await text(),
      headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
    };
  };
  return [routing.open(getMetrics, answer, { readsBearer: token !== null, sameOriginOnly: true })];
}

function requireToken(call: Call, token: string): void {
  const sent = keyOf(call);
  const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  if (!timingSafeEqual(hash(sent), hash(token))) throw new ApiError("bad_key");
}

/** What a proxy on this machine passes on comes from loopback, too, and says for whom. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

function isFromThisMachine(call: Call): boolean {
  if (PROXY_HEADERS.some((name) => call.request.headers.has(name))) return false;
  return /^(?:::ffff:)?127\.|^::1$/.test(call.clientAddress());
}
