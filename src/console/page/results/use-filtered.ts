import { useEffect, useState } from "preact/hooks";
import { useConsole } from "../state/console.ts";
import { useReturns } from "../state/use-returns.ts";
import { messageOf } from "../wire/api.ts";
import type { ResultRow } from "../wire/bodies.ts";
import { askAfterBreak } from "../wire/broken-reply.ts";
import { type Filter, isOfDomain, queryOf } from "./filter.ts";
import { resultsOf } from "./ndjson-results.ts";

export type Filtered = {
  readonly rows: readonly ResultRow[];
  readonly isWhole: boolean;
  readonly isCut: boolean;
  /** Why the reading broke off; null where it did not. */
  readonly failure: string | null;
};

/** Results that a filtered table holds at most. */
export const FILTERED_ROWS_MAX = 10_000;
const DRAW_MS = 200;
const NOTHING: Filtered = { rows: [], isWhole: false, isCut: false, failure: null };

/**
 * Reads the first results that pass a filter, or the first of a list that is not finished; anew at each turn and when a
 * lost server is back, from which on those that were read before stay until as many are there. Another filter wants a
 * component of its own.
 */
export function useFiltered(jobId: string, filter: Filter, turn: unknown): Filtered {
  const { api, connection, now } = useConsole();
  const returns = useReturns();
  const [filtered, setFiltered] = useState<Filtered>(NOTHING);
  const { status, subStatus, domain } = filter;
  useEffect(() => {
    const stop = new AbortController();
    const rows: ResultRow[] = [];
    const read = async () => {
      const reply = await api.open(`/v1/jobs/${jobId}/results?${queryOf(filter, "ndjson")}`, {
        headers: { Accept: "application/x-ndjson" },
        signal: stop.signal,
      });
      let drawnAt = now();
      for await (const results of resultsOf(reply)) {
        for (const result of results) {
          if (rows.length === FILTERED_ROWS_MAX) return "cut";
          if (isOfDomain(result, domain)) rows.push(result);
        }
        if (now() - drawnAt < DRAW_MS) continue;
        drawnAt = now();
        const found = [...rows];
        setFiltered((former) => (found.length < former.rows.length ? former : { ...NOTHING, rows: found }));
      }
      return "whole";
    };
    read().then(
      (end) => setFiltered({ rows, isWhole: true, isCut: end === "cut", failure: null }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        askAfterBreak(error, { api, connection });
        const failure = messageOf(error);
        setFiltered((former) => {
          const most = rows.length < former.rows.length ? former.rows : rows;
          return { ...NOTHING, rows: most, failure };
        });
      },
    );
    return () => stop.abort();
  }, [jobId, status, subStatus, domain, turn, returns]);
  return filtered;
}
