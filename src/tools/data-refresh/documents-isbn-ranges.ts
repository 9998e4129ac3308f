import { groups } from "isbn3";
import isbn3Package from "isbn3/package.json" with { type: "json" };
import type { GeneratedTable } from "./generated-table.ts";

/** The registration groups and registrant ranges of the RangeMessage, as the package isbn3 carries them. */
export const tables: readonly GeneratedTable[] = [
  { path: "src/verification/documents/data/isbn-ranges.txt", build: buildIsbnRanges },
];

/** The day a release of isbn3 was published: it fetches the RangeMessage anew for each. */
const releaseDays = new Map([["2.0.11", "2026-09-10"]]);

function buildIsbnRanges(): string {
  const { version } = isbn3Package;
  const head = [
    "# Registration groups and registrant ranges of the International ISBN Agency's RangeMessage (isbn-international.org),",
    `# by the npm package isbn3 ${version} (MIT). Generated; do not edit.`,
    "# data_version, then: group, agency, ranges",
    `data_version\tISBN RangeMessage ${releaseDays.get(version) ?? "undated"} (isbn3 ${version})`,
  ];
  const rows = Object.entries(groups).map(
    ([group, { name, ranges }]) => `${group}\t${name}\t${ranges.map((range) => range.join("-")).join(",")}`,
  );
  return `${[...head, ...rows.sort()].join("\n")}\n`;
}
