import type { Bound, Figure, SuiteResult, TargetOutcome } from "./result.ts";

/** Three digits that matter, with the thousands set apart. */
export function shown(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return value.toPrecision(2);
}

/** Rows under a head, in columns. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

export function boundText(bound: Bound, unit: string): string {
  return "atLeast" in bound ? `≥ ${bound.atLeast} ${unit}` : `≤ ${bound.atMost} ${unit}`;
}

export function measuredText({ measured, unit }: TargetOutcome): string {
  return measured === null ? "not measured" : `${shown(measured)} ${unit}`;
}

export function targetsTable(targets: readonly TargetOutcome[]): string {
  return tableText(
    ["what", "against", "target", "measured", "met", "note"],
    targets.map((target) => [
      target.what,
      target.against,
      boundText(target.bound, target.unit),
      measuredText(target),
      target.met ? "yes" : "NO",
      target.note,
    ]),
  );
}

export function figuresTables({ figures }: SuiteResult): string {
  const groups = Map.groupBy(figures, (figure) => figure.group);
  return [...groups]
    .map(([group, members]) =>
      tableText([group, "value", "unit", "least to most", "p50", "p99"], members.map(figureRow)),
    )
    .join("\n\n");
}

/** `1,000 to 1,200`, and of how many rounds where they are fewer than three. */
export function rangeText({ range }: Pick<Figure, "range">): string {
  if (range === undefined) return "";
  const { least, most, rounds } = range;
  return `${shown(least)} to ${shown(most)}${rounds < 3 ? ` (${rounds} rounds)` : ""}`;
}

function figureRow(figure: Figure): string[] {
  const { name, value, unit, p50, p99 } = figure;
  const optional = (figure: number | undefined) => (figure === undefined ? "" : shown(figure));
  return [name, shown(value), unit, rangeText(figure), optional(p50), optional(p99)];
}
