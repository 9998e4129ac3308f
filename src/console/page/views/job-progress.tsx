import { nounOf } from "../../../contract/noun.ts";
import { MeterBar } from "../charts/meter-bar.tsx";
import { countOf, durationOf, percentOf } from "../text/format.ts";
import type { Job } from "../wire/bodies.ts";
import { isEnded } from "../wire/job-events.ts";

/** How far a list is, how fast it goes and when it will end. */
export function JobProgress({ job }: { readonly job: Job }) {
  const { counts, progress, rows_per_second, eta_seconds, status } = job;
  if (isEnded(job) && status === "completed") return null;
  const isRunning = status === "running";
  return (
    <section class="card" aria-label="Progress">
      <div class="row apart">
        <p>
          <b class="score-number">{percentOf(progress)}</b>{" "}
          <span class="muted">
            {countOf(counts.processed)} of {countOf(counts.rows)} {nounOf(counts.rows, "row")}
          </span>
        </p>
        <p class="muted">
          {isRunning && rows_per_second !== null
            ? `${countOf(rows_per_second)} ${nounOf(rows_per_second, "row")} a second`
            : ""}
          {isRunning && eta_seconds !== null ? `, ${durationOf(eta_seconds)} left` : ""}
        </p>
      </div>
      <MeterBar label={`${percentOf(progress)} of the rows are done`} value={progress} most={1} />
    </section>
  );
}
