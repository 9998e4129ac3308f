import { tables as documentTypes } from "./document-types.ts";
import { tables as cardBrands } from "./documents-card-brands.ts";
import { tables as isbnRanges } from "./documents-isbn-ranges.ts";
import { tables as emailLists } from "./email-lists.ts";
import type { GeneratedTable } from "./generated-table.ts";
import { tables as gibberishTable } from "./gibberish-table.ts";
import { tables as phonePlans } from "./phone-plans.ts";
import { tables as phoneTables } from "./phone-tables.ts";

/** Every committed file that is made from installed packages or checked-in sources. */
export const allTables: readonly GeneratedTable[] = [
  ...emailLists,
  ...gibberishTable,
  ...documentTypes,
  ...cardBrands,
  ...isbnRanges,
  ...phoneTables,
  ...phonePlans,
];
