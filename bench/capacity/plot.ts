/** A line plot as SVG text, without scripts. */
export type PlotSeries = { readonly name: string; readonly points: readonly PlotPoint[] };

export type PlotPoint = {
  readonly x: number;
  readonly y: number;
  /** The lowest and the highest of the rounds, drawn as a bar through the point. */
  readonly range?: readonly [low: number, high: number];
  /** Where the line goes, unless through the point: the point is noise then, and hollow. */
  readonly line?: number;
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
  readonly note?: string;
};

/** Letters are as large as they are written where the frame is shown in its own size: one for each kind of screen. */
const FRAMES = [
  { name: "wide", width: 640, height: 360 },
  { name: "narrow", width: 350, height: 300 },
] as const;
const EDGE = { left: 62, right: 26, top: 20, bottom: 48 } as const;
/** Distinguished by people with any colour vision (Okabe and Ito). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"] as const;
/** About as wide as a digit of 12 pixels is, and as high as a line. */
const LETTER_PX = 7;
const LINE_PX = 15;

type Frame = { readonly width: number; readonly height: number };
type Axis = { readonly place: (value: number) => number; readonly ticks: readonly number[] };

/** Returns the plot in two widths, of which the style sheet shows one, with its title and the names of its lines. */
export function plotFigure(plot: Plot): string {
  const label = escapeText(plot.title);
  const drawings = FRAMES.map(
    (frame) =>
      `<svg class="${frame.name}" viewBox="0 0 ${frame.width} ${frame.height}" role="img" aria-label="${label}">\n${drawn(plot, frame)}\n</svg>`,
  );
  const note = plot.note === undefined ? "" : `<p class="note">${escapeText(plot.note)}</p>`;
  return `<figure id="${plot.id}"><figcaption>${label}</figcaption>
${drawings.join("\n")}
<ul class="legend">${plot.series.map(({ name }, which) => legendItem(name, colourOf(which))).join("")}</ul>${note}</figure>`;
}

export function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function drawn(plot: Plot, frame: Frame): string {
  const points = plot.series.flatMap((series) => series.points);
  const ys = points.flatMap(({ y, range = [], line = y }) => [y, line, ...range]);
  const limits = plot.limits ?? [];
  const x = axis(
    points.map((point) => point.x),
    plot.xScale,
    EDGE.left,
    frame.width - EDGE.right,
  );
  const y = axis(
    [...ys, ...limits.map((limit) => limit.y)],
    plot.yScale,
    frame.height - EDGE.bottom,
    EDGE.top,
  );
  return [
    ...gridLines(x, y, frame),
    ...limits.map((limit) => limitLine(limit.name, y.place(limit.y), frame)),
    ...plot.series.map((series, which) => seriesLines(series, colourOf(which), x, y)),
    axisTitle(plot.xTitle, (EDGE.left + frame.width - EDGE.right) / 2, frame.height - 8, ""),
    axisTitle(plot.yTitle, 14, (EDGE.top + frame.height - EDGE.bottom) / 2, "rotate"),
  ].join("\n");
}

function colourOf(which: number): string {
  return COLOURS[which % COLOURS.length] ?? COLOURS[0];
}

function axis(values: readonly number[], scale: "linear" | "log", from: number, to: number): Axis {
  const isLog = scale === "log";
  const largest = Math.max(...values, isLog ? 1e-9 : 0);
  const smallest = isLog ? Math.max(1e-9, Math.min(...values)) : Math.min(0, ...values);
  const ticks = isLog ? logTicks(smallest, largest) : linearTicks(smallest, largest);
  const measure = isLog ? Math.log10 : (value: number) => value;
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

/** Lines at all ticks, and the numbers of those that have room for them. */
function gridLines(x: Axis, y: Axis, { width, height }: Frame): string[] {
  const bottom = height - EDGE.bottom;
  let above = Number.POSITIVE_INFINITY;
  const across = y.ticks.map((tick) => {
    const at = rounded(y.place(tick));
    const line = `<line class="grid" x1="${EDGE.left}" x2="${width - EDGE.right}" y1="${at}" y2="${at}"/>`;
    if (above - at < LINE_PX) return line;
    above = at;
    return `${line}<text class="tick" text-anchor="end" x="${EDGE.left - 6}" y="${at + 4}">${tickText(tick)}</text>`;
  });
  let before = Number.NEGATIVE_INFINITY;
  const up = x.ticks.map((tick) => {
    const at = rounded(x.place(tick));
    const half = (tickText(tick).length * LETTER_PX) / 2;
    const line = `<line class="grid" x1="${at}" x2="${at}" y1="${EDGE.top}" y2="${bottom}"/>`;
    if (at - half < before + LETTER_PX) return line;
    before = at + half;
    return `${line}<text class="tick" text-anchor="middle" x="${at}" y="${bottom + 16}">${tickText(tick)}</text>`;
  });
  return [...across, ...up];
}

function seriesLines({ name, points }: PlotSeries, colour: string, x: Axis, y: Axis): string {
  const path = points.map(
    (point) => `${rounded(x.place(point.x))},${rounded(y.place(point.line ?? point.y))}`,
  );
  const marks = points.map((point) => {
    const [px, py] = [rounded(x.place(point.x)), rounded(y.place(point.y))];
    const isNoise = point.line !== undefined && point.line !== point.y;
    const title = escapeText(`${name}: ${tickText(point.x)}, ${tickText(point.y)}${rangeText(point)}`);
    const fill = isNoise ? `class="noise" stroke="${colour}"` : `fill="${colour}"`;
    return `${rangeLine(point, px, colour, y)}<circle cx="${px}" cy="${py}" r="4" ${fill}><title>${title}</title></circle>`;
  });
  return `<polyline class="series" fill="none" stroke="${colour}" stroke-width="2.5" points="${path.join(" ")}"/>${marks.join("")}`;
}

function rangeLine({ range }: PlotPoint, px: number, colour: string, y: Axis): string {
  if (range === undefined) return "";
  const [low, high] = range.map((value) => rounded(y.place(value)));
  return `<line class="spread" stroke="${colour}" stroke-width="6" x1="${px}" x2="${px}" y1="${low}" y2="${high}"/>`;
}

function rangeText({ range }: PlotPoint): string {
  return range === undefined ? "" : ` (${tickText(range[0])} to ${tickText(range[1])})`;
}

function limitLine(name: string, y: number, { width }: Frame): string {
  const at = rounded(y);
  return `<line class="limit" x1="${EDGE.left}" x2="${width - EDGE.right}" y1="${at}" y2="${at}"/><text class="tick limit-name" text-anchor="start" x="${EDGE.left + 6}" y="${at - 5}">${escapeText(name)}</text>`;
}

function axisTitle(text: string, x: number, y: number, turn: "" | "rotate"): string {
  const transform = turn === "" ? "" : ` transform="rotate(-90 ${x} ${y})"`;
  return `<text class="title" text-anchor="middle" x="${x}" y="${y}"${transform}>${escapeText(text)}</text>`;
}

function legendItem(name: string, colour: string): string {
  return `<li><svg width="22" height="10" aria-hidden="true"><line x1="0" x2="22" y1="5" y2="5" stroke="${colour}" stroke-width="3"/></svg> ${escapeText(name)}</li>`;
}

function tickText(value: number): string {
  const [size, letter] = value >= 1e6 ? [1e6, " M"] : value >= 1000 ? [1000, " k"] : [1, ""];
  return `${Number((value / size).toPrecision(3)).toLocaleString("en")}${letter}`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
