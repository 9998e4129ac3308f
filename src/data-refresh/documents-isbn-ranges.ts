import { groups } from "isbn3";
import isbn3Package from "isbn3/package.json" with { type: "json" };
import type { GeneratedTable } from "./generated-table.ts";

/** The registration groups and registrant ranges of the RangeMessage, as the package isbn3 carries them. */
export const tables: readonly GeneratedTable[] = [
  { path: "src/documents/data/isbn-ranges.txt", build: buildIsbnRanges },
];

function buildIsbnRanges(): string {
  const head = [
    "# Registration groups and registrant ranges of the International ISBN Agency's RangeMessage (isbn-international.org),",
    `# by the npm package isbn3 ${isbn3Package.version} (MIT). Generated; do not edit.`,
    "# data_version, then: group, agency, ranges",
    `data_version\tISBN RangeMessage by isbn3 ${isbn3Package.version}`,
  ];
  const rows = Object.entries(groups).map(
    ([group, { name, ranges }]) => `${group}\t${name}\t${ranges.map((range) => range.join("-")).join(",")}`,
  );
  return `${[...head, ...rows.sort()].join("\n")}\n`;
}
