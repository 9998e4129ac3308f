import { Elysia } from "elysia";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Boundary, CallReport } from "./boundary.ts";
import { getMetrics } from "./specification/service.ts";

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
  readonly read: () => number | Labelled[];
};

export type Labelled = { readonly labels: { readonly [label: string]: string }; readonly value: number };

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts calls by route template, status and time; everything else is read from the parts on demand. */
export function createMetrics(readings: Readings): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "assay_http_requests_total",
    help: "Calls by route and status.",
    labelNames: ["route", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "assay_http_request_seconds",
    help: "Time from a call's arrival until its reply is decided; for a streamed reply until its end.",
    labelNames: ["route"],
    buckets: SECONDS,
    registers: [registry],
  });
  const units = new Counter({
    name: "assay_units_charged_total",
    help: "Units charged by route.",
    labelNames: ["route"],
    registers: [registry],
  });
  for (const [name, reading] of Object.entries(readings)) addReading(registry, name, reading);
  // Finding a series by its labels costs more than counting in it.
  const series = new Map<string, ReturnType<typeof seriesOf>>();
  const seriesOf = (route: string, status: number) => ({
    requests: requests.labels(route, `${status}`),
    seconds: seconds.labels(route),
    units: units.labels(route),
  });
  return {
    observe({ call, status, durationMs }) {
      const name = `${status} ${call.route}`;
      const known = series.get(name) ?? seriesOf(call.route, status);
      series.set(name, known);
      known.requests.inc();
      known.seconds.observe(durationMs / 1000);
      if (call.units > 0) known.units.inc(call.units);
    },
    text: () => registry.metrics(),
  };
}

function addReading(registry: Registry, name: string, { help, type, read }: Reading): void {
  const samples = (): Labelled[] => {
    const now = read();
    return typeof now === "number" ? [{ labels: {}, value: now }] : now;
  };
  const labelNames = Object.keys(samples()[0]?.labels ?? {});
  const options = { name, help, labelNames, registers: [registry] };
  if (type === "gauge") {
    new Gauge({
      ...options,
      collect() {
        for (const { labels, value } of samples()) this.set(labels, value);
      },
    });
    return;
  }
  new Counter({
    ...options,
    collect() {
      this.reset();
      for (const { labels, value } of samples()) this.inc(labels, value);
    },
  });
}

/** /metrics for Prometheus; it costs nothing but is not meant for the public: see the setting METRICS. */
export function metricsRoutes(parts: { boundary: Boundary; metrics: Metrics }) {
  return new Elysia({ name: "metrics" }).get(
    "/metrics",
    parts.boundary.route(
      "/metrics",
      async () => ({
        status: 200,
        body: await parts.metrics.text(),
        headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
      }),
      { open: true },
    ),
    { detail: getMetrics },
  );
}
