import type { BatchKind } from "../batch/messages.ts";
import { itemUnits } from "../billing/units.ts";
import { isTestTenant } from "../platform/test-tenant.ts";
import type { JobRecord } from "../store/job-records.ts";
import type { IntakeOptions } from "./intake/intake-messages.ts";
import type { JobOptions } from "./job.ts";

/** The part of a job that is known before its input is read. */
export type JobRequest = {
  readonly kind: BatchKind;
  readonly name: string | null;
  readonly options: JobOptions;
  readonly webhookUrl: string | null;
  readonly form: IntakeOptions["form"];
};

/** Returns the record of a job whose input is still to be received. */
export function newJob(
  jobId: string,
  accountId: string,
  request: Omit<JobRequest, "form">,
  createdAt: number,
): JobRecord {
  return {
    jobId,
    accountId,
    kind: request.kind,
    name: request.name,
    status: "receiving",
    statusReason: null,
    createdAt,
    startedAt: null,
    finishedAt: null,
    expiresAt: null,
    erasedAt: null,
    deletedAt: null,
    options: JSON.stringify(request.options),
    inputTable: null,
    chunkCount: 0,
    rows: 0,
    distinctRows: 0,
    unitsPerItem: unitsOf(request),
    processed: 0,
    counts: "{}",
    unitsCharged: 0,
    round: 1,
    isTest: isTestTenant(accountId),
    webhookUrl: request.webhookUrl,
  };
}

/** Returns the units of an item. */
export function unitsOf({ kind, options }: Pick<JobRequest, "kind" | "options">): number {
  return itemUnits(kind, options.deep);
}
