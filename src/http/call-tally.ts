import type { Metric } from "prom-client";
import type { CallReport } from "./call.ts";

/**
 * Counts calls, their time and their units by route. Counting is cheap, as every call is counted; the text of the metrics
 * is rendered on demand.
 */
export type CallTally = {
  readonly observe: (report: CallReport) => void;
  /** Metrics that a registry can collect. */
  readonly metrics: readonly Metric[];
};

/** Upper bounds in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type RouteTally = {
  readonly statuses: Map<number, number>;
  /** Calls by bucket; the last one is unbounded. */
  readonly buckets: number[];
  seconds: number;
  units: number;
};

type Sample = {
  readonly labels: { readonly [label: string]: string | number };
  readonly value: number;
  readonly metricName?: string;
};

export function createCallTally(): CallTally {
  const routes = new Map<string, RouteTally>();

  function tallyOf(route: string): RouteTally {
    const known = routes.get(route);
    if (known !== undefined) return known;
    const buckets = Array.from({ length: BUCKETS.length + 1 }, () => 0);
    const tally = { statuses: new Map(), buckets, seconds: 0, units: 0 };
    routes.set(route, tally);
    return tally;
  }

  const samples = (of: (route: string, tally: RouteTally) => Sample[]) => () =>
    [...routes].flatMap(([route, tally]) => of(route, tally));

  return {
    observe({ call, status, durationMs }) {
      const tally = tallyOf(call.route);
      const seconds = durationMs / 1000;
      tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
      let at = 0;
      while (seconds > (BUCKETS[at] ?? Number.POSITIVE_INFINITY)) at += 1;
      tally.buckets[at] = (tally.buckets[at] ?? 0) + 1;
      tally.seconds += seconds;
      tally.units += call.units;
    },
    metrics: [
      metric("assay_http_requests_total", "Calls by route and status.", "counter", samples(statusSamples)),
      metric(
        "assay_http_request_seconds",
        "Time from a call's arrival until its reply is decided; for a streamed reply until its end.",
        "histogram",
        samples(timeSamples),
      ),
      metric(
        "assay_units_charged_total",
        "Units charged by route.",
        "counter",
        samples((route, { units }) => (units === 0 ? [] : [{ labels: { route }, value: units }])),
      ),
    ],
  };
}

function statusSamples(route: string, { statuses }: RouteTally): Sample[] {
  return [...statuses].map(([status, value]) => ({ labels: { route, status }, value }));
}

/** Returns cumulative buckets, as Prometheus reads them. */
function timeSamples(route: string, { buckets, seconds }: RouteTally): Sample[] {
  let count = 0;
  const counted = buckets.map((calls, at): Sample => {
    count += calls;
    const labels = { le: BUCKETS[at] ?? "+Inf", route };
    return { labels, value: count, metricName: "assay_http_request_seconds_bucket" };
  });
  const labels = { route };
  return [
    ...counted,
    { labels, value: seconds, metricName: "assay_http_request_seconds_sum" },
    { labels, value: count, metricName: "assay_http_request_seconds_count" },
  ];
}

/** The members of a metric that the registry uses, which are fewer than its type has. */
function metric(name: string, help: string, type: "counter" | "histogram", values: () => Sample[]): Metric {
  const asked = {
    name,
    help,
    type,
    get: async () => ({ name, help, type, values: values() }),
    reset: () => {},
  };
  return asked as unknown as Metric;
}
