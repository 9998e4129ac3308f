import type { ResultRow } from "../wire/bodies.ts";
import { createCsvRecords } from "./csv-records.ts";
import { isOfDomain } from "./filter.ts";

/** Keeps the lines of NDJSON whose address is of a domain. Text comes in pieces. */
export function createDomainLines(domain: string): (piece: string, isLast: boolean) => string {
  let rest = "";
  return (piece, isLast) => {
    const lines = (rest + piece).split("\n");
    rest = isLast ? "" : (lines.pop() ?? "");
    return lines
      .filter((line) => line !== "" && isOfDomain(JSON.parse(line) as ResultRow, domain))
      .map((line) => `${line}\n`)
      .join("");
  };
}

/**
 * Keeps the header of CSV and the records whose address is of a domain. Which column holds the address, a file does not
 * say: `results` are the same rows in the same order as NDJSON gives them, and are read in step with the records.
 */
export function createDomainRecords(
  domain: string,
  results: AsyncIterator<ResultRow>,
): (piece: string, isLast: boolean) => Promise<string> {
  const divide = createCsvRecords();
  let isHeader = true;
  return async (piece, isLast) => {
    let written = "";
    for (const record of divide(piece, isLast)) {
      if (isHeader) {
        isHeader = false;
        written += record;
        continue;
      }
      const { done, value } = await results.next();
      if (done === true) break;
      if (isOfDomain(value, domain)) written += record;
    }
    return written;
  };
}
