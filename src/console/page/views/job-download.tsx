import { useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Failure } from "../parts/notice.tsx";
import { type DownloadForm, download } from "../results/download.ts";
import { type Filter, isFiltered } from "../results/filter.ts";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { bytesOf } from "../text/format.ts";
import type { Job } from "../wire/bodies.ts";

const FORMS: readonly (readonly [DownloadForm, string])[] = [
  ["spreadsheet", "CSV for spreadsheets"],
  ["csv", "CSV"],
  ["ndjson", "NDJSON"],
];

/** Downloads of the results, all or as they are filtered. */
export function JobDownload({ job, filter }: { readonly job: Job; readonly filter: Filter }) {
  const { api } = useConsole();
  const action = useAction();
  const [bytes, setBytes] = useState(0);
  const stop = useRef<AbortController | null>(null);
  const begin = (form: DownloadForm) =>
    action.run(async () => {
      setBytes(0);
      const controller = new AbortController();
      stop.current = controller;
      const { signal } = controller;
      const name = job.name ?? job.job_id;
      try {
        await download(api, { jobId: job.job_id, name, form, filter, onBytes: setBytes, signal });
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  return (
    <div class="stack download">
      <h3>{isFiltered(filter) ? "Download the filtered rows" : "Download all rows"}</h3>
      <div class="row">
        {FORMS.map(([form, text]) => (
          <Button key={form} isOff={action.isRunning} onPress={() => begin(form)}>
            {text}
          </Button>
        ))}
      </div>
      {action.isRunning ? (
        <div class="row">
          <p role="status">{bytesOf(bytes)} so far</p>
          <Button look="small" onPress={() => stop.current?.abort()}>
            Stop
          </Button>
        </div>
      ) : null}
      <Failure message={action.failure} />
      <p class="hint">
        In “CSV for spreadsheets” an apostrophe stands before every cell that a spreadsheet would run as a
        formula, by whichever separator it goes (those that begin with =, +, −, @, a tab or a line end). “CSV”
        and “NDJSON” are what the API gives, byte for byte: do not open that CSV in a spreadsheet where you do
        not trust its rows.
      </p>
    </div>
  );
}
