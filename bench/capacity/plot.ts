/** A line plot as SVG text, without scripts. */
export type PlotSeries = {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
};

export type Plot = {
  readonly id: string;
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly xScale: "linear" | "log";
  readonly yScale: "linear" | "log";
  readonly series: readonly PlotSeries[];
  /** Horizontal lines with a name: limits. */
  readonly limits?: readonly { readonly name: string; readonly y: number }[];
};

const WIDTH = 640;
const HEIGHT = 360;
const EDGE = { left: 78, right: 18, top: 18, bottom: 48 } as const;
/** Distinguished by people with any colour vision (Okabe and Ito). */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"] as const;

type Axis = { readonly place: (value: number) => number; readonly ticks: readonly number[] };

export function plotSvg(plot: Plot): string {
  const xs = plot.series.flatMap(({ points }) => points.map(([x]) => x));
  const ys = [
    ...plot.series.flatMap(({ points }) => points.map(([, y]) => y)),
    ...(plot.limits ?? []).map(({ y }) => y),
  ];
  const x = axis(xs, plot.xScale, EDGE.left, WIDTH - EDGE.right, plot.xScale === "log");
  const y = axis(ys, plot.yScale, HEIGHT - EDGE.bottom, EDGE.top, plot.yScale === "log");
  const parts = [
    ...gridLines(x, y),
    ...(plot.limits ?? []).map(({ name, y: at }) => limitLine(name, y.place(at))),
    ...plot.series.map((series, which) => line(series, colourOf(which), x, y)),
    axisTitle(plot.xTitle, (EDGE.left + WIDTH - EDGE.right) / 2, HEIGHT - 8, ""),
    axisTitle(plot.yTitle, 14, (EDGE.top + HEIGHT - EDGE.bottom) / 2, "rotate"),
  ];
  const label = escapeText(plot.title);
  return `<figure id="${plot.id}"><figcaption>${label}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
${parts.join("\n")}
</svg>
<ul class="legend">${plot.series.map(({ name }, which) => legendItem(name, colourOf(which))).join("")}</ul></figure>`;
}

export function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function colourOf(which: number): string {
  return COLOURS[which % COLOURS.length] ?? COLOURS[0];
}

function axis(
  values: readonly number[],
  scale: "linear" | "log",
  from: number,
  to: number,
  tight: boolean,
): Axis {
  const largest = Math.max(...values, scale === "log" ? 1e-9 : 0);
  const smallest = tight ? Math.min(...values) : Math.min(0, ...values);
  const ticks = scale === "log" ? logTicks(smallest, largest) : linearTicks(smallest, largest);
  const measure = scale === "log" ? Math.log10 : (value: number) => value;
  const low = measure(Math.min(smallest, ticks[0] ?? smallest));
  const high = measure(Math.max(largest, ticks.at(-1) ?? largest));
  const span = high - low || 1;
  return { ticks, place: (value) => from + ((measure(value) - low) / span) * (to - from) };
}

/** About five steps of 1, 2 or 5 times a power of ten. */
function linearTicks(smallest: number, largest: number): number[] {
  const rough = (largest - smallest) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const count = Math.ceil((largest - smallest) / step);
  return Array.from({ length: count + 1 }, (_, n) => smallest + n * step);
}

/** 1, 2 and 5 times the powers of ten that enclose the values. */
function logTicks(smallest: number, largest: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(smallest)); power <= Math.ceil(Math.log10(largest)); power += 1) {
    for (const factor of [1, 2, 5]) ticks.push(factor * 10 ** power);
  }
  const from = ticks.findLastIndex((tick) => tick <= smallest * 1.0001);
  const to = ticks.findIndex((tick) => tick >= largest * 0.9999);
  return ticks.slice(Math.max(0, from), to + 1);
}

function gridLines(x: Axis, y: Axis): string[] {
  const bottom = HEIGHT - EDGE.bottom;
  const across = y.ticks.map((tick) => {
    const at = rounded(y.place(tick));
    return `<line class="grid" x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${at}" y2="${at}"/><text class="tick" text-anchor="end" x="${EDGE.left - 6}" y="${at + 4}">${tickText(tick)}</text>`;
  });
  const up = x.ticks.map((tick) => {
    const at = rounded(x.place(tick));
    return `<line class="grid" x1="${at}" x2="${at}" y1="${EDGE.top}" y2="${bottom}"/><text class="tick" text-anchor="middle" x="${at}" y="${bottom + 16}">${tickText(tick)}</text>`;
  });
  return [...across, ...up];
}

function line({ name, points }: PlotSeries, colour: string, x: Axis, y: Axis): string {
  const places = points.map(([px, py]) => [rounded(x.place(px)), rounded(y.place(py))] as const);
  const path = places.map(([px, py]) => `${px},${py}`).join(" ");
  const dots = places.map(([px, py], at) => {
    const [vx = 0, vy = 0] = points[at] ?? [];
    const title = escapeText(`${name}: ${tickText(vx)}, ${tickText(vy)}`);
    return `<circle cx="${px}" cy="${py}" r="4" fill="${colour}"><title>${title}</title></circle>`;
  });
  return `<polyline class="series" fill="none" stroke="${colour}" stroke-width="2.5" points="${path}"/>${dots.join("")}`;
}

function limitLine(name: string, y: number): string {
  const at = rounded(y);
  return `<line class="limit" x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${at}" y2="${at}"/><text class="tick" text-anchor="end" x="${WIDTH - EDGE.right - 4}" y="${at - 5}">${escapeText(name)}</text>`;
}

function axisTitle(text: string, x: number, y: number, turn: "" | "rotate"): string {
  const transform = turn === "" ? "" : ` transform="rotate(-90 ${x} ${y})"`;
  return `<text class="title" text-anchor="middle" x="${x}" y="${y}"${transform}>${escapeText(text)}</text>`;
}

function legendItem(name: string, colour: string): string {
  return `<li><svg width="22" height="10" aria-hidden="true"><line x1="0" x2="22" y1="5" y2="5" stroke="${colour}" stroke-width="3"/></svg> ${escapeText(name)}</li>`;
}

function tickText(value: number): string {
  if (value >= 1000) return `${Number((value / 1000).toPrecision(3)).toLocaleString("en")} k`;
  return `${Number(value.toPrecision(3))}`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
