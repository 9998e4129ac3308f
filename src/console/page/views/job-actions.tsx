import { useState } from "preact/hooks";
import { Confirm } from "../parts/confirm.tsx";
import { Failure } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import type { Job } from "../wire/bodies.ts";
import { isEnded } from "../wire/job-events.ts";

/** Pause, resume, cancel, delete: those that the state of the list allows. */
export function JobActions({ job, onJob }: { readonly job: Job; readonly onJob: (job: Job) => void }) {
  const { api, goTo } = useConsole();
  const action = useAction();
  const [asked, setAsked] = useState<"cancel" | "delete" | null>(null);
  const path = `/v1/jobs/${job.job_id}`;
  const steer = (verb: "pause" | "resume" | "cancel") => async () =>
    onJob(await api.send<Job>("POST", `${path}/${verb}`));
  const isGoing = job.status === "running" || job.status === "queued";
  return (
    <div class="row">
      {isGoing ? (
        <button
          type="button"
          class="button"
          disabled={action.isRunning}
          onClick={() => action.run(steer("pause"))}
        >
          Pause
        </button>
      ) : null}
      {job.status === "paused" ? (
        <button
          type="button"
          class="button primary"
          disabled={action.isRunning}
          onClick={() => action.run(steer("resume"))}
        >
          Resume
        </button>
      ) : null}
      {isGoing || job.status === "paused" ? (
        <button type="button" class="button danger" onClick={() => setAsked("cancel")}>
          Cancel
        </button>
      ) : null}
      {isEnded(job) || job.status === "receiving" ? (
        <button type="button" class="button danger" onClick={() => setAsked("delete")}>
          Delete
        </button>
      ) : null}
      <Failure message={action.failure} />
      {asked === "cancel" ? (
        <Confirm
          title="Cancel this list?"
          act="Cancel the list"
          onAct={steer("cancel")}
          onClose={() => setAsked(null)}
        >
          <p>What is finished stays, and stays charged. The rest is not verified; it cannot be resumed.</p>
        </Confirm>
      ) : null}
      {asked === "delete" ? (
        <Confirm
          title="Delete this list?"
          act="Delete input and results"
          onAct={async () => {
            await api.remove(path);
            goTo("lists");
          }}
          onClose={() => setAsked(null)}
        >
          <p>Its rows and results are erased from the server at once. The invoice keeps the counts.</p>
        </Confirm>
      ) : null}
    </div>
  );
}
