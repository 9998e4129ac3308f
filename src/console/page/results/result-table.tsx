import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { FailedReading } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useReturns } from "../state/use-returns.ts";
import { countOf } from "../text/format.ts";
import { itemOf, statusOf, whyOf } from "../text/result-words.ts";
import { messageOf } from "../wire/api.ts";
import type { Job, ResultRow } from "../wire/bodies.ts";
import { askAfterBreak } from "../wire/broken-reply.ts";
import { type Filter, isFiltered } from "./filter.ts";
import { ResultDialog } from "./result-dialog.tsx";
import { createResultSource } from "./result-source.ts";
import { ROWS_IN_VIEW } from "./row-scroll.ts";
import { FILTERED_ROWS_MAX, type Filtered, useFiltered } from "./use-filtered.ts";
import { VirtualTable } from "./virtual-table.tsx";

/** Rows that are read around those in view. */
const MARGIN_ROWS = 30;
const SETTLE_MS = 60;
/** As wide as the head of the column. */
const DIGITS_MIN = 4;

/**
 * The results of a list: any stretch of a finished one, the first rows of one that runs or is filtered. Its height is that
 * of all rows in view at once, however few are there yet: what stands below is where it was when it is pressed.
 */
export function ResultTable({ job, filter }: { readonly job: Job; readonly filter: Filter }) {
  const isRanged = job.status === "completed" && !isFiltered(filter);
  return (
    <div class="results" style={{ "--rows": Math.min(ROWS_IN_VIEW, job.counts.rows) }}>
      {isRanged ? <RangedTable job={job} /> : <FilteredTable job={job} filter={filter} />}
    </div>
  );
}

function RangedTable({ job }: { readonly job: Job }) {
  const { api, connection } = useConsole();
  const returns = useReturns();
  const source = useMemo(() => createResultSource(api, job.job_id, job.counts.rows), [api, job.job_id]);
  const [held, setHeld] = useState<{ first: number; rows: readonly ResultRow[] }>({ first: 0, rows: [] });
  const [failure, setFailure] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  const reading = useRef<AbortController | null>(null);
  const timer = useRef(0);
  const view = useCallback(
    (first: number, count: number) => {
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => {
        reading.current?.abort();
        const stop = new AbortController();
        reading.current = stop;
        const from = Math.max(0, first - MARGIN_ROWS);
        source.rows(from + 1, count + 2 * MARGIN_ROWS, stop.signal).then(
          (rows) => {
            if (stop.signal.aborted) return;
            setHeld({ first: from, rows });
            setFailure(null);
          },
          (error: unknown) => {
            if (stop.signal.aborted) return;
            askAfterBreak(error, { api, connection });
            setFailure(messageOf(error));
          },
        );
      }, SETTLE_MS);
    },
    // The rows in view are read again when a lost server is back, or the visitor says so.
    [source, returns, attempt],
  );
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      reading.current?.abort();
    },
    [source],
  );
  return (
    <>
      <FailedReading message={failure} onAgain={() => setAttempt(attempt + 1)} />
      <Found>{`${countOf(job.counts.rows)} ${nounOf(job.counts.rows, "row")}.`}</Found>
      <Rows
        job={job}
        rowCount={job.counts.rows}
        rowAt={(at) => held.rows[at - held.first] ?? null}
        onView={view}
      />
    </>
  );
}

const STEPS = 20;

function foundText({ rows: { length }, isWhole, isCut, failure }: Filtered, byFilter: boolean): string {
  const rows = `${countOf(length)} ${nounOf(length, "row")}`;
  if (failure !== null) return length === 0 ? "" : `${countOf(length)} found before the reading broke off.`;
  if (isCut) return `The first ${countOf(FILTERED_ROWS_MAX)} that match; a download has all of them.`;
  if (!isWhole) return `${countOf(length)} found, reading on …`;
  if (!byFilter) return `${rows} so far.`;
  return `${rows} ${length === 1 ? "matches" : "match"}.`;
}

function FilteredTable({ job, filter }: { readonly job: Job; readonly filter: Filter }) {
  // While a list runs its first rows are read anew now and then, else at each change.
  const step = job.status === "running" ? Math.floor(job.progress * STEPS) : job.counts.processed;
  const [attempt, setAttempt] = useState(0);
  const filtered = useFiltered(job.job_id, filter, `${job.status} ${step} ${attempt}`);
  const { rows, failure } = filtered;
  const ignore = useCallback(() => undefined, []);
  return (
    <>
      <FailedReading message={failure} onAgain={() => setAttempt(attempt + 1)} />
      <Found>{foundText(filtered, isFiltered(filter))}</Found>
      {rows.length === 0 ? null : (
        <Rows job={job} rowCount={rows.length} rowAt={(at) => rows[at] ?? null} onView={ignore} />
      )}
    </>
  );
}

function Found({ children }: { readonly children: string }) {
  return (
    <p class="muted" role="status">
      {children}
    </p>
  );
}

function Rows({
  job,
  rowCount,
  rowAt,
  onView,
}: {
  readonly job: Job;
  readonly rowCount: number;
  readonly rowAt: (at: number) => ResultRow | null;
  readonly onView: (first: number, count: number) => void;
}) {
  const [opened, setOpened] = useState<ResultRow | null>(null);
  return (
    <>
      <VirtualTable
        caption="Results"
        digits={Math.max(DIGITS_MIN, countOf(job.counts.rows).length)}
        rowCount={rowCount}
        rowAt={rowAt}
        onView={onView}
        columns={[
          {
            head: "Row",
            name: "row",
            cell: (result) => (
              <Button
                look="link"
                label={`Row ${result.row}: all that was found`}
                onPress={() => setOpened(result)}
              >
                {countOf(Number(result.row))}
              </Button>
            ),
          },
          { head: "Item", name: "item", cell: itemOf },
          { head: "Verdict", name: "verdict", cell: (result) => <Badge word={statusOf(result)} /> },
          ...(job.kind === "email"
            ? [{ head: "Score", name: "score", cell: (result: ResultRow) => String(result.score ?? "–") }]
            : []),
          { head: "Cause", name: "why", cell: whyOf },
        ]}
      />
      {opened === null ? null : <ResultDialog result={opened} onClose={() => setOpened(null)} />}
    </>
  );
}
