import { useEffect, useState } from "preact/hooks";
import { Shares } from "../charts/shares.tsx";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Card } from "../parts/card.tsx";
import { Facts } from "../parts/facts.tsx";
import { Moment } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, percentOf, wordsOf } from "../text/format.ts";
import { verdictsOf } from "../text/result-words.ts";
import { visible } from "../text/visible.ts";
import type { Job } from "../wire/bodies.ts";
import { isEnded, watchJob } from "../wire/job-events.ts";
import { JobActions } from "./job-actions.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobResultsCard } from "./job-results.tsx";
import { ScoreHistogram } from "./score-histogram.tsx";

const REASONS: { readonly [reason: string]: string } = {
  out_of_units: "The units of this month are used up. It goes on by itself when there are more.",
  by_caller: "You stopped it, here or by a call.",
  storage: "The server's disk is full or has failed. It goes on by itself when there is room again.",
};

/** One list: how far it is, what came of it, its rows. */
export function JobView({ id }: { readonly id: string }) {
  const { api } = useConsole();
  const loaded = useLoad((signal) => api.read<Job>(`/v1/jobs/${encodeURIComponent(id)}`, signal), [id]);
  return (
    <>
      <p class="crumb">
        <a href={hrefOf("lists")}>Lists</a>
      </p>
      <Await of={loaded} lines={8} title="List">
        {(job) => <JobDetails first={job} key={id} />}
      </Await>
    </>
  );
}

function JobDetails({ first }: { readonly first: Job }) {
  const { api, announcement } = useConsole();
  const [job, setJob] = useState(first);
  const ended = isEnded(job);
  useEffect(() => {
    if (ended) return;
    const stop = new AbortController();
    void watchJob(api, first.job_id, setJob, stop.signal);
    return () => stop.abort();
  }, [api, first.job_id, ended]);
  const tenth = Math.floor(job.progress * 10);
  useEffect(() => {
    announcement.set(`${job.name ?? "The list"}: ${wordsOf(job.status)}, ${percentOf(tenth / 10)}`);
  }, [job.status, tenth]);
  return (
    <>
      <div class="view-head">
        <div class="row">
          <h1>{visible(job.name ?? job.job_id)}</h1>
          <Badge word={job.status} />
        </div>
        <JobActions job={job} onJob={setJob} />
      </div>
      {job.status_reason !== null && !(ended && job.status_reason === "by_caller") ? (
        <Notice kind="warn">{REASONS[job.status_reason] ?? wordsOf(job.status_reason)}</Notice>
      ) : null}
      <div class="stack">
        <JobProgress job={job} />
        <div class="halves even">
          <Card title="Verdicts">
            <Shares title="Verdicts" shares={sharesOf(job)} />
          </Card>
          <Card title="Details">
            <Facts
              facts={[
                ["Rows", countOf(job.counts.rows)],
                ["Duplicates, not charged", countOf(job.counts.duplicates)],
                ["Units charged", countOf(job.units_charged)],
                ["Created", <Moment key="created" at={job.created_at} />],
                ["Finished", <Moment key="finished" at={job.finished_at} />],
                ["Erased on", <Moment key="expires" at={job.expires_at} />],
              ]}
            />
          </Card>
        </div>
        {job.kind === "email" && job.status === "completed" ? <ScoreHistogram job={job} /> : null}
        {job.status === "receiving" ? null : <JobResultsCard job={job} />}
      </div>
    </>
  );
}

function sharesOf({ kind, counts }: Job) {
  const numbers: { readonly [word: string]: number } = counts;
  return verdictsOf(kind).map((word) => ({ word, count: numbers[word] ?? 0 }));
}
