import type { Job } from "../client/contract-types.ts";
import { commandNamed } from "../platform/command-name.ts";
import type { JobRun } from "./file-run-options.ts";

/** Describes what a job does without this command, and how to return to it. `job`: null where it is not sent yet. */
export function comeBack(run: JobRun, jobId: string, job: Job | null): string {
  const way = wayBack(run, jobId);
  if (job === null || job.status === "receiving") return `The file is not sent yet; come back with: ${way}`;
  return job.status === "paused" ? `Come back with: ${way}` : `The job goes on; come back with: ${way}`;
}

/**
 * Returns the command that returns to a job, with the options by which the file is read and the results are written: with
 * others the file could be read as another one, or other results be written. What is checked is kept with the job.
 */
export function wayBack({ task, input, server, output, format, only }: JobRun, jobId: string): string {
  const kind = { email: [], identity: ["documents"], phone: ["phones"] }[task.kind];
  const words = [
    ...kind,
    input.path,
    ...option("--input-format", input.format),
    ...option("--encoding", input.encoding),
    ...option("--column", input.column),
    ...(input.header === undefined ? [] : [input.header ? "--header" : "--no-header"]),
    "--server",
    server.url,
    "--attach",
    jobId,
    ...option("--format", format),
    ...option("--only", only?.join(",")),
    ...option("--output", output),
  ];
  return `${commandNamed("verify")} ${words.map(quoted).join(" ")}`;
}

function option(name: string, value: string | null | undefined): readonly string[] {
  return value === undefined || value === null ? [] : [name, value];
}

function quoted(word: string): string {
  return /^[\w./:,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
