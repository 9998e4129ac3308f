import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Failure, Notice } from "../parts/notice.tsx";
import { type DownloadForm, download } from "../results/download.ts";
import { type Filter, isFiltered } from "../results/filter.ts";
import { offerFile } from "../results/offered-file.ts";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { bytesOf } from "../text/format.ts";
import type { Job } from "../wire/bodies.ts";

const FORMS: readonly (readonly [DownloadForm, string])[] = [
  ["spreadsheet", "CSV for spreadsheets"],
  ["csv", "CSV"],
  ["ndjson", "NDJSON"],
];

/** Downloads of the results, all or as they are filtered. One that runs ends with the view. */
export function JobDownload({ job, filter }: { readonly job: Job; readonly filter: Filter }) {
  const { api } = useConsole();
  const action = useAction();
  const [bytes, setBytes] = useState(0);
  const [isPartial, setPartial] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = (form: DownloadForm) =>
    action.run(async () => {
      setBytes(0);
      setPartial(false);
      const controller = new AbortController();
      stop.current = controller;
      const { signal } = controller;
      const name = job.name ?? job.job_id;
      try {
        const wanted = { jobId: job.job_id, name, form, filter };
        setPartial(!(await download(api, { ...wanted, onBytes: setBytes, offer: offerFile, signal })));
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    });
  return (
    <div class="stack download">
      <h3>{titleOf(job, filter)}</h3>
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
      {isPartial ? (
        <Notice kind="warn">
          The list was not complete: the file has only the rows that were finished by then.
        </Notice>
      ) : null}
      <p class="hint">
        In “CSV for spreadsheets” an apostrophe stands before every cell that a spreadsheet would run as a
        formula, by whichever separator it goes (those that begin with =, +, −, @, a tab or a line end). “CSV”
        and “NDJSON” are what the API gives, byte for byte: do not open that CSV in a spreadsheet where you do
        not trust its rows.
      </p>
    </div>
  );
}

function titleOf({ status }: Job, filter: Filter): string {
  const isComplete = status === "completed";
  if (isFiltered(filter)) return `Download the filtered rows${isComplete ? "" : " so far"}`;
  return isComplete ? "Download all rows" : "Download the rows so far";
}
