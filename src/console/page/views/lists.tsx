import { useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Choice } from "../parts/choice.tsx";
import { FileDrop } from "../parts/file-drop.tsx";
import { useConsole } from "../state/console.ts";
import { useStore } from "../state/store.ts";
import { useLoad } from "../state/use-load.ts";
import type { JobPage } from "../wire/bodies.ts";
import { JobTable } from "./job-table.tsx";
import { ListStart } from "./list-start.tsx";
import { UploadProgress } from "./upload-progress.tsx";

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
        {isBusy ? <UploadProgress upload={upload} onBack={() => setFile(null)} /> : null}
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
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const query = new URLSearchParams({ limit: "20" });
  if (status !== "") query.set("status", status);
  if (cursor !== undefined) query.set("starting_after", cursor);
  const jobs = useLoad((signal) => api.read<JobPage>(`/v1/jobs?${query}`, signal), [`${query}`]);
  return (
    <Card title="History">
      <div class="narrow">
        <Choice
          label="State"
          value={status}
          options={STATES}
          onValue={(chosen) => {
            setCursors([]);
            setStatus(chosen);
          }}
        />
      </div>
      <Await of={jobs} lines={6}>
        {({ data, has_more, next_cursor }) => (
          <>
            <JobTable jobs={data} />
            {has_more || cursors.length > 0 ? (
              <div class="row">
                <button
                  type="button"
                  class="button small"
                  disabled={cursors.length === 0}
                  onClick={() => setCursors(cursors.slice(0, -1))}
                >
                  Newer
                </button>
                <button
                  type="button"
                  class="button small"
                  disabled={!has_more || next_cursor === null}
                  onClick={() => next_cursor !== null && setCursors([...cursors, next_cursor])}
                >
                  Older
                </button>
              </div>
            ) : null}
          </>
        )}
      </Await>
    </Card>
  );
}
