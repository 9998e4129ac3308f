import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
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
        <Button isOff={action.isRunning} onPress={() => action.run(steer("pause"))}>
          Pause
        </Button>
      ) : null}
      {job.status === "paused" ? (
        <Button look="primary" isOff={action.isRunning} onPress={() => action.run(steer("resume"))}>
          Resume
        </Button>
      ) : null}
      {isGoing || job.status === "paused" ? (
        <Button look="danger" onPress={() => setAsked("cancel")}>
          Cancel
        </Button>
      ) : null}
      {isEnded(job) || job.status === "receiving" ? (
        <Button look="danger" onPress={() => setAsked("delete")}>
          Delete
        </Button>
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
