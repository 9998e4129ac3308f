import { basename } from "node:path";
import type { Client } from "../client/client.ts";
import type { Job, JobFields } from "../client/contract-types.ts";
import { RefusedError } from "../client/failure.ts";
import { partsOf } from "../client/job-input.ts";
import { listNameOf } from "../tables/list-name.ts";
import type { Task } from "../tables/task.ts";
import { CliError } from "./failure.ts";
import type { FileRun } from "./file-run-options.ts";
import { openRows } from "./input.ts";
import { type JobState, readJobState, removeJobState, writeJobState } from "./job-state.ts";
import type { Progress } from "./progress.ts";
import { jobFrom } from "./server-reply.ts";
import { openSource } from "./source.ts";

export type Upload = {
  readonly client: Client;
  readonly run: FileRun;
  readonly progress: Progress;
};

const PART_BYTES = 4_194_304;

/** Creates the job that the file is uploaded to. */
async function createUploadOf({ client, run }: Upload, server: string): Promise<JobState> {
  const { task, partial, input, output } = run;
  const name = listNameOf(basename(input.path));
  const fields: JobFields = {
    ...fieldsOf(task),
    name,
    when_out_of_units: partial ? "pause" : "refuse",
  };
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
export async function uploadAsNew(
  upload: Upload,
  { server, onCreated }: { readonly server: string; readonly onCreated: (jobId: string) => void },
): Promise<Job> {
  await dropFormer(upload, server);
  const state = await createUploadOf(upload, server);
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
    if (known === digest) continue;
    if (known !== undefined) {
      throw new CliError("The input is not the one that the upload was begun with; start anew with --force.");
    }
    await client.putJobPart(begun.jobId, n, part);
    state = { ...state, parts: [...state.parts, digest] };
    writeJobState(output, state);
  }
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

function fieldsOf(task: Task): JobFields {
  switch (task.kind) {
    case "email":
      return { kind: "email", deep: task.deep, dns: task.dns };
    case "identity":
      return task.type === null ? { kind: "identity" } : { kind: "identity", type: task.type };
    case "phone":
      return task.country === null ? { kind: "phone" } : { kind: "phone", country: task.country };
  }
}
