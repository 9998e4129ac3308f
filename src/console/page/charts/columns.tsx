import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Table } from "../parts/table.tsx";
import { countOf, shortCountOf } from "../text/format.ts";
import { scaleFor } from "./scale.ts";

export type ColumnBar = { readonly name: string; readonly short: string; readonly value: number };

const HEIGHT = 100;

/** Values side by side, with a table of the same numbers. The value under the pointer is shown beside the note. */
export function Columns({
  title,
  nameHead,
  valueHead,
  bars,
  barsPerName,
  note,
}: {
  readonly title: string;
  readonly nameHead: string;
  readonly valueHead: string;
  readonly bars: readonly ColumnBar[];
  /** One bar in this many has a name below it. */
  readonly barsPerName: number;
  readonly note: ComponentChildren;
}) {
  const [pointed, setPointed] = useState<string | null>(null);
  const { top, ticks } = scaleFor(Math.max(...bars.map(({ value }) => value)));
  return (
    <figure class="columns">
      <div class="columns-plot">
        <div class="columns-scale" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick}>{shortCountOf(tick)}</span>
          ))}
        </div>
        <Bars title={title} bars={bars} top={top} ticks={ticks} onPoint={setPointed} />
        <Names bars={bars} barsPerName={barsPerName} />
      </div>
      <figcaption>
        <span>{note}</span>
        <b class="columns-value">{pointed}</b>
      </figcaption>
      <details class="numbers">
        <summary>Show the numbers</summary>
        <Table
          caption={title}
          columns={[
            { head: nameHead, cell: ({ name }: ColumnBar) => name },
            { head: valueHead, cell: ({ value }: ColumnBar) => countOf(value), isNumber: true },
          ]}
          rows={bars}
          keyOf={({ name }) => name}
        />
      </details>
    </figure>
  );
}

function Bars({
  title,
  bars,
  top,
  ticks,
  onPoint,
}: {
  readonly title: string;
  readonly bars: readonly ColumnBar[];
  /** The value at the upper edge. */
  readonly top: number;
  readonly ticks: readonly number[];
  /** Called with the words of the bar under the pointer, or null. */
  readonly onPoint: (words: string | null) => void;
}) {
  return (
    <svg
      viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${title}. The numbers are in the table below.`}
      onPointerLeave={() => onPoint(null)}
    >
      {ticks.slice(0, -1).map((tick) => {
        const y = HEIGHT - (tick / top) * HEIGHT;
        return <line key={tick} class="grid" x1="0" x2={bars.length * 10} y1={y} y2={y} />;
      })}
      {bars.map(({ name, value }, at) => {
        const height = value === 0 ? 0 : Math.max(1.5, (value / top) * HEIGHT);
        const words = `${name}: ${countOf(value)}`;
        return (
          <g key={name} class="column" onPointerEnter={() => onPoint(words)}>
            <rect class="hit" x={at * 10} y="0" width="10" height={HEIGHT} />
            <rect class="bar" x={at * 10 + 1.5} y={HEIGHT - height} width="7" height={height} />
            <title>{words}</title>
          </g>
        );
      })}
    </svg>
  );
}

function Names({ bars, barsPerName }: { readonly bars: readonly ColumnBar[]; readonly barsPerName: number }) {
  const named = bars.filter((_, at) => at % barsPerName === 0);
  return (
    <div class={barsPerName === 1 ? "columns-names middle" : "columns-names"} aria-hidden="true">
      {named.map(({ name, short }, at) => {
        const covered = Math.min(barsPerName, bars.length - at * barsPerName);
        return (
          <span key={name} style={{ flexGrow: covered }}>
            {covered * 2 < barsPerName ? null : short}
          </span>
        );
      })}
    </div>
  );
}
