import { type Client, createClient } from "../client/client.ts";
import type { Job } from "../client/contract-types.ts";
import { RefusedError, UNREADABLE, UnreachableError } from "../client/failure.ts";
import { hasEnded } from "../client/job-watch.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { CliError, EXIT } from "./failure.ts";
import { verifyIntoClaimed } from "./file-run.ts";
import type { FileRun, FileRunDependencies, JobRun } from "./file-run-options.ts";
import { readJobState, removeJobState } from "./job-state.ts";
import { taskOfJob } from "./job-task.ts";
import { dropUnknown, fieldsOfRun, type Upload, uploadAsNew, uploadItems } from "./job-upload.ts";
import { createJobVerifier } from "./job-verifier.ts";
import { statOf } from "./output.ts";
import { claimOutput } from "./output-claim.ts";
import { counted, createProgress, grouped, type Progress } from "./progress.ts";
import { cliError, jobFrom } from "./server-reply.ts";
import { comeBack, wayBack } from "./way-back.ts";

export type JobRunDependencies = FileRunDependencies & { readonly apiKey: string };

/**
 * Uploads a file as a job, waits for it and writes its results as any run does; returns the exit code. The job continues
 * even if the command is interrupted; the same command with --resume, or --attach, returns to it. Throws CliError.
 */
export async function verifyAsJob(run: JobRun, dependencies: JobRunDependencies): Promise<number> {
  const { url, retriesMax } = run.server;
  const client = createClient({ baseUrl: url, apiKey: dependencies.apiKey, retriesMax });
  // The output is claimed before there is a job: a second run would pay for another one.
  using _ = claimOutput(run.output, run.input.path);
  const known = stateOf(run);
  let jobId = run.job.attach ?? known?.jobId ?? null;
  let job: Job | null = null;
  let progress = progressOf(run, dependencies, null);
  dependencies.onInterrupt(() => {
    progress.stop();
    return `Interrupted. ${jobId === null ? "Nothing was begun." : comeBack(run, jobId, job)}`;
  });
  try {
    job = jobId === null ? null : jobFrom(url, await client.job(jobId));
    const upload: Upload = { client, run, progress };
    if (job?.status === "receiving" && known !== null) job = jobFrom(url, await uploadItems(upload, known));
    else if (job === null || job.status === "receiving") {
      const fields = job === null ? fieldsOfRun(run) : await dropUnknown(upload, job);
      jobId = null;
      const onCreated = (created: string) => {
        jobId = created;
        const sent = job === null ? "The job" : `The upload ${job.job_id} is sent anew: the job`;
        if (!run.quiet) dependencies.stderr.write(`${sent} is ${jobId}.\n`);
      };
      job = jobFrom(url, await uploadAsNew(upload, { server: url, fields, onCreated }));
    }
    progress.stop();
    progress = progressOf(run, dependencies, job.counts.rows);
    for await (const seen of watched(client, job.job_id, run.resume || run.job.attach !== null)) {
      job = seen;
      const { processed } = seen.counts;
      progress.update({ rows: processed, bytes: processed });
    }
    progress.stop();
    if (job.status !== "completed") throw unfinished(run, job);
    return await writeResults(run, dependencies, client, job);
  } catch (error) {
    progress.stop();
    const isBegun = job !== null && job.status !== "receiving";
    const failure = cliError(error, url, !isBegun && isOfCommand(error) ? EXIT.badInput : EXIT.stopped);
    if (!(failure instanceof CliError) || jobId === null || !isPassing(error)) throw failure;
    throw new CliError(`${failure.message} Come back with: ${wayBack(run, jobId)}`, failure.exitCode);
  }
}

/** Yields the job until it ends or stays paused. One without units is resumed once where the run comes back to it. */
async function* watched(
  client: Client,
  jobId: string,
  isComingBack: boolean,
): AsyncGenerator<Job, void, undefined> {
  let isResumed = false;
  for await (const job of client.watchJob(jobId)) {
    yield job;
    if (job.status !== "paused" || job.status_reason === "storage") continue;
    if (!isComingBack || job.status_reason !== "out_of_units") return;
    await client.resumeJob(jobId);
    isResumed = true;
    break;
  }
  // Without units it pauses again at once, as it was seen already: only another stream of its events begins with that.
  if (isResumed) yield* watched(client, jobId, false);
}

/** Whether the server keeps the job, and may go on with it: later, or with more units. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof RefusedError)) return error instanceof UnreachableError;
  return error.status >= 500 || error.status === 402 || error.status === 429;
}

/** Whether the command asked for what the server does not do: a wrong key or job, or an input that it refuses. */
function isOfCommand(error: unknown): boolean {
  if (!(error instanceof RefusedError) || error.code === UNREADABLE) return false;
  return error.status < 500 && error.status !== 429;
}

/** Writes the results into the output, from where an earlier run left it. */
async function writeResults(
  run: JobRun,
  dependencies: JobRunDependencies,
  client: ReturnType<typeof createClient>,
  job: Job,
): Promise<number> {
  const { output } = run;
  const task = taskOfJob(run.task, job);
  const isHalfDone =
    output !== null && !run.force && readCheckpoint(output) !== null && statOf(output) !== null;
  const resume = isHalfDone && (run.resume || run.job.attach !== null);
  const afterRow = resume ? (readCheckpoint(output ?? "")?.rows ?? 0) : 0;
  const exitCode = await verifyIntoClaimed(
    { ...run, task, resume },
    {
      ...dependencies,
      openVerifier: async () => createJobVerifier({ client, url: run.server.url, job, task, afterRow }),
      onInterrupt: (stop) => dependencies.onInterrupt(() => `${stop()}\n${comeBack(run, job.job_id, job)}`),
    },
  );
  removeJobState(output);
  return exitCode;
}

/**
 * Returns the job that an earlier run began for this output, with --attach only if it is the named one; null without one.
 * Throws CliError rather than begin another.
 */
function stateOf(run: JobRun) {
  const { output, resume, force, server, task, job } = run;
  if (output === null) {
    if (resume) throw new CliError("--resume needs --output; a job is come back to with --attach.");
    return null;
  }
  const known = readJobState(output);
  if (job.attach !== null) return known?.jobId === job.attach && !force ? known : null;
  if (known === null || force) {
    const before = statOf(output);
    if (!force && before?.isFile() === true && before.size > 0) {
      throw new CliError(`${output} exists; use --force to overwrite it.`);
    }
    return null;
  }
  if (!resume) {
    throw new CliError(
      `${output} waits for the job ${known.jobId}; use --resume to go on or --force to begin anew.`,
    );
  }
  if (known.server !== server.url || known.task !== JSON.stringify(task)) {
    throw new CliError(`${output} was begun with other options; start anew with --force.`);
  }
  return known;
}

function progressOf(
  run: FileRun,
  { stderr, clock }: FileRunDependencies,
  rowsTotal: number | null,
): Progress {
  const bytesTotal = rowsTotal ?? statOf(run.input.path)?.size ?? null;
  return createProgress({ stream: stderr, quiet: run.quiet, bytesTotal, clock });
}

function unfinished(run: JobRun, job: Job): CliError {
  const { status, status_reason: reason, counts, job_id: jobId } = job;
  const done = `after ${grouped(counts.processed)} of ${counted(counts.rows, "row")}`;
  if (hasEnded(job)) {
    removeJobState(run.output);
    return new CliError(
      `The job ${jobId} is ${status} ${done}${reason === null ? "" : ` (${reason})`}.`,
      EXIT.stopped,
    );
  }
  const why =
    reason === "out_of_units"
      ? "it goes on by itself when the account has units again"
      : `POST /v1/jobs/${jobId}/resume goes on with it`;
  return new CliError(`The job is paused ${done}: ${why}. ${comeBack(run, jobId, job)}`, EXIT.stopped);
}
