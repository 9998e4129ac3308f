import { basename } from "node:path";
import type { Client } from "../client/client.ts";
import type { Job, JobFields } from "../client/contract-types.ts";
import { RefusedError } from "../client/failure.ts";
import { isOfStarted } from "../client/job-creation.ts";
import { partsOf } from "../client/job-input.ts";
import { listNameOf } from "../tables/list-name.ts";
import { CliError } from "./failure.ts";
import type { FileRun } from "./file-run-options.ts";
import { openRows } from "./input.ts";
import { type JobState, readJobState, removeJobState, writeJobState } from "./job-state.ts";
import { fieldsLike, fieldsOfTask } from "./job-task.ts";
import type { Progress } from "./progress.ts";
import { jobFrom } from "./server-reply.ts";
import { openSource } from "./source.ts";

export type Upload = {
  readonly client: Client;
  readonly run: FileRun;
  readonly progress: Progress;
};

export type NewUpload = {
  readonly server: string;
  readonly fields: JobFields;
  readonly onCreated: (jobId: string) => void;
};

const PART_BYTES = 4_194_304;
/** The largest number that a part may have. */
const PART_LAST = 10_000;

/** Returns the fields of the job that a run asks for. */
export function fieldsOfRun({ task, partial, input }: FileRun): JobFields {
  const name = listNameOf(basename(input.path));
  return { ...fieldsOfTask(task), name, when_out_of_units: partial ? "pause" : "refuse" };
}

/**
 * Drops an upload whose parts are not known here, and returns the fields of a job like it: parts of a longer file would be
 * joined with those that are sent now. Throws CliError where the file cannot be opened or is of another kind, and
 * RefusedError where the job was started.
 */
export async function dropUnknown({ client, run }: Upload, job: Job): Promise<JobFields> {
  const { input, task } = run;
  const fields = fieldsLike(task, job);
  await openRows(openSource(input.path, input.encoding), task.kind, input);
  // Behind a gap no start succeeds, and one that is under way refuses the part: a job that charges is never deleted.
  await client.putJobPart(job.job_id, PART_LAST, new Uint8Array());
  await client.deleteJob(job.job_id);
  return fields;
}

/** Creates the job that the file is uploaded to. */
async function createUploadOf(
  { client, run }: Upload,
  { server, fields }: Pick<NewUpload, "server" | "fields">,
): Promise<JobState> {
  const { task, output } = run;
  const created = await client.createUpload("application/x-ndjson", fields);
  const { job_id: jobId } = jobFrom(server, created);
  const state: JobState = { version: 1, jobId, server, task: JSON.stringify(task), parts: [] };
  writeJobState(output, state);
  return state;
}

/** Drops the upload that an earlier run left half sent for this output: it would count among the account's jobs for a day. */
async function dropFormer({ client, run }: Upload, server: string): Promise<void> {
  const former = run.output === null ? null : readJobState(run.output);
  if (former === null || former.server !== server) return;
  try {
    const { status } = await client.job(former.jobId);
    if (status === "receiving") await client.deleteJob(former.jobId);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 404) throw error;
  }
}

/** Uploads the file as a new job, and starts it. Where it cannot be read there is no job: one would count for a day. */
export async function uploadAsNew(upload: Upload, { server, fields, onCreated }: NewUpload): Promise<Job> {
  await dropFormer(upload, server);
  const state = await createUploadOf(upload, { server, fields });
  onCreated(state.jobId);
  try {
    return await uploadItems(upload, state);
  } catch (error) {
    if (error instanceof CliError) {
      removeJobState(upload.run.output);
      await upload.client.deleteJob(state.jobId).catch(() => {});
    }
    throw error;
  }
}

/**
 * Sends the items of the file in parts, those that are on the server already passed over, and starts the job. Throws
 * CliError where the file is not the one that the upload was begun with.
 */
export async function uploadItems({ client, run, progress }: Upload, begun: JobState): Promise<Job> {
  const { input, output, task } = run;
  const source = openSource(input.path, input.encoding);
  const { runs } = await openRows(source, task.kind, input);
  let rows = 0;
  async function* items(): AsyncGenerator<string, void, undefined> {
    for await (const some of runs) {
      for (const { item } of some) yield item;
      rows += some.length;
      progress.update({ rows, bytes: source.bytesRead() });
    }
  }
  let state = begun;
  let n = 0;
  for await (const part of partsOf({ rows: items() }, PART_BYTES)) {
    const digest = new Bun.CryptoHasher("sha256").update(part).digest("base64");
    const known = begun.parts[n];
    n += 1;
    if (known !== undefined && known !== digest) throw otherInput();
    if (n < begun.parts.length) continue;
    if (known === undefined) {
      state = { ...state, parts: [...state.parts, digest] };
      writeJobState(output, state);
    }
    await client.putJobPart(begun.jobId, n, part).catch((error: unknown) => {
      // The run that sent it has started the job, and that start may still go on: it is joined below.
      if (known === undefined || !isOfStarted(error)) throw error;
    });
  }
  // The server would join the parts behind the end of a shorter file with it.
  if (n < begun.parts.length) throw otherInput();
  try {
    return await client.startJob(begun.jobId);
  } catch (error) {
    // The server drops an input that it refuses for its content.
    if (error instanceof RefusedError && (error.status === 400 || error.status === 413)) {
      removeJobState(output);
    }
    throw error;
  }
}

function otherInput(): CliError {
  return new CliError("The input is not the one that the upload was begun with; start anew with --force.");
}
