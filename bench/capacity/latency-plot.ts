import type { OfferedPoint, Range } from "./costs.ts";
import type { Plot, PlotPoint } from "./plot.ts";

/** Returns the plot of latency over offered load, with what single calls may take. */
export function latencyPlot(curve: readonly OfferedPoint[], p99MsMax: number): Plot {
  const rounds = Math.min(...curve.map(({ spread }) => spread?.rounds ?? 1));
  return {
    id: "latency",
    title: "Latency of single calls over offered load",
    xTitle: "calls a second offered",
    yTitle: "ms",
    xScale: "linear",
    yScale: "log",
    series: [
      { name: "p50", points: curve.map((point) => pointOf(point, point.p50, point.spread?.p50)) },
      {
        name: "p99",
        points: curve.map((point) => ({
          ...pointOf(point, point.p99, point.spread?.p99),
          line: point.p99Settled,
        })),
      },
    ],
    limits: [{ name: `target: ${p99MsMax} ms`, y: p99MsMax }],
    note: noteOf(curve, rounds),
  };
}

function pointOf({ offeredPerSecond }: OfferedPoint, y: number, range: Range | undefined): PlotPoint {
  return { x: offeredPerSecond, y, ...(range === undefined ? {} : { range }) };
}

function noteOf(curve: readonly OfferedPoint[], rounds: number): string {
  const noise = curve.filter(({ p99, p99Settled }) => p99 < p99Settled).length;
  return [
    rounds > 1
      ? `Each point is the median of ${rounds} rounds; its bar goes from the lowest of them to the highest.`
      : "Each point is one round: how far rounds lie apart is not known.",
    noise > 0
      ? " A hollow point is lower than one at a lower rate. More load makes no call faster: that is noise, and the line and the plan stay at the higher value."
      : "",
  ].join("");
}
