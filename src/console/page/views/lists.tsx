import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Choice } from "../parts/choice.tsx";
import { FileDrop } from "../parts/file-drop.tsx";
import { Pager } from "../parts/pager.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { usePaging } from "../state/use-paging.ts";
import { useStore } from "../state/use-store.ts";
import type { JobPage } from "../wire/bodies.ts";
import { JobTable } from "./job-table.tsx";
import { ListStart } from "./list-start.tsx";
import { UploadProgress } from "./upload-progress.tsx";
import { UploadUnknown, UploadUnstarted } from "./upload-unstarted.tsx";

const STATES = [
  ["", "All"],
  ["running", "Running"],
  ["queued", "Queued"],
  ["paused", "Paused"],
  ["completed", "Completed"],
  ["cancelled", "Cancelled"],
  ["failed", "Failed"],
  ["receiving", "Receiving"],
] as const;

/** Lists: a new one, and those that were. */
export function ListsView() {
  const { uploads } = useConsole();
  const upload = useStore(uploads.state);
  const [file, setFile] = useState<File | null>(null);
  const isBusy = upload.status !== "idle";
  return (
    <>
      <div class="view-head">
        <h1>Lists</h1>
      </div>
      <div class="stack">
        {upload.status === "unstarted" ? (
          <UploadUnstarted upload={upload} />
        ) : upload.status === "unknown" ? (
          <UploadUnknown upload={upload} />
        ) : isBusy ? (
          <UploadProgress upload={upload} onBack={() => setFile(null)} />
        ) : null}
        {isBusy ? null : file === null ? (
          <FileDrop
            label="Choose a file, or drop it here"
            hint="CSV, text or NDJSON of any size. Nothing is sent before you have seen what it costs."
            onFile={setFile}
          />
        ) : (
          <ListStart file={file} onBack={() => setFile(null)} />
        )}
        <JobHistory />
      </div>
    </>
  );
}

function JobHistory() {
  const { api } = useConsole();
  const [status, setStatus] = useState<string>("");
  const paging = usePaging();
  const { cursor } = paging;
  const query = new URLSearchParams({ limit: "20" });
  if (status !== "") query.set("status", status);
  if (cursor !== undefined) query.set("starting_after", cursor);
  const jobs = useLoad((signal) => api.read<JobPage>(`/v1/jobs?${query}`, signal), [`${query}`]);
  return (
    <Card
      title="History"
      aside={
        <div class="field-line">
          <Choice
            label="Status"
            value={status}
            options={STATES}
            onValue={(chosen) => {
              paging.restart();
              setStatus(chosen);
            }}
          />
        </div>
      }
    >
      <Await of={jobs} lines={6}>
        {({ data, has_more, next_cursor }) => (
          <>
            <JobTable jobs={data} />
            <Pager paging={paging} next={has_more ? next_cursor : null} />
          </>
        )}
      </Await>
    </Card>
  );
}
