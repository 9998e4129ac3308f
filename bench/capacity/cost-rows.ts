import { shown } from "../print.ts";
import { COST_NAMES, type Costs, ITEMS } from "./costs.ts";
import type { Row } from "./rows.ts";

/** What was measured of each item, as pairs of words and values. */
export function costRows({ single, batches, lookup, more }: Costs): Row[] {
  const seconds = (value: number) => `${shown(value)} s of CPU a million`;
  const cpu: Row[] = [
    ["Single calls of known domains", seconds(single.all)],
    ...batches.map(
      ({ size, cpu: { all } }): Row => [`Addresses in batches of ${size.toLocaleString("en")}`, seconds(all)],
    ),
    ["Look-up of a new domain, beyond that", seconds(lookup.all)],
  ];
  if (more === null) return cpu;
  const bytes = ITEMS.map((item): Row => {
    const { received, sent, sentGzip, charge } = more.bytes[item];
    const name = COST_NAMES.item[item];
    return [
      `${name[0]?.toUpperCase()}${name.slice(1)}`,
      `${shown(received)} bytes in, ${shown(sent)} out (gzip ${shown(sentGzip)})${charge === 0 ? "" : `, ${shown(charge)} of charge on disk`}`,
    ];
  });
  return [
    ...cpu,
    ["With deep, beyond the look-up", seconds(more.deepLookup.all)],
    ["Documents in batches", seconds(more.document.all)],
    ["Phone numbers in batches", seconds(more.phone.all)],
    ["Rows of jobs", seconds(more.jobRow.all)],
    ["DNS queries for a new domain", `${shown(more.queries.plain)}; ${shown(more.queries.deep)} with deep`],
    ...bytes,
    ["A row of a job, until the job is deleted", `${shown(more.jobRowDiskBytes)} bytes on disk`],
  ];
}
