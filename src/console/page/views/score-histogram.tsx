import { useMemo } from "preact/hooks";
import { nounOf } from "../../../contract/noun.ts";
import { Columns } from "../charts/columns.tsx";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { createResultSource } from "../results/result-source.ts";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf } from "../text/format.ts";
import type { Job } from "../wire/bodies.ts";

const PLACES = 16;
const BINS = 10;

/** How the scores of a finished list spread: of all rows where they are few, else of places spread over the list. */
export function ScoreHistogram({ job }: { readonly job: Job }) {
  const { api } = useConsole();
  const source = useMemo(() => createResultSource(api, job.job_id, job.counts.rows), [api, job.job_id]);
  const sample = useLoad((signal) => source.sample(PLACES, signal), [source]);
  return (
    <Card title="Scores">
      <Await of={sample} lines={5}>
        {(rows) => {
          const bins = Array.from({ length: BINS }, () => 0);
          for (const { score } of rows) {
            const bin = Math.min(BINS - 1, Math.floor(Number(score) / BINS));
            bins[bin] = (bins[bin] ?? 0) + 1;
          }
          const isWhole = rows.length >= job.counts.rows;
          return (
            <Columns
              title="Rows by score"
              nameHead="Score"
              valueHead="Rows"
              bars={bins.map((value, at) => ({
                name: `${at * BINS} to ${at === BINS - 1 ? 100 : at * BINS + BINS - 1}`,
                short: `${at * BINS}`,
                value,
              }))}
              barsPerName={1}
              note={
                isWhole
                  ? `All ${countOf(rows.length)} ${nounOf(rows.length, "row")}`
                  : `A sample of ${countOf(rows.length)} of ${countOf(job.counts.rows)} rows, from ${PLACES} places spread over the list`
              }
            />
          );
        }}
      </Await>
    </Card>
  );
}
