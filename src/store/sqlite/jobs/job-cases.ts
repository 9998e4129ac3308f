import type { AtOnce } from "../../../platform/answer.ts";
import type { Clock } from "../../../platform/clock.ts";
import { ownerOf } from "../../../platform/test-tenant.ts";
import type { JobPort } from "../../job-port.ts";
import { type JobRecord, UNFINISHED } from "../../job-records.ts";
import { BROKEN_OFF, endOfJob, RUNNING } from "../../job-rounds.ts";
import { StorageError } from "../../storage-error.ts";
import type { AccountStatements } from "../accounts/account-statements.ts";
import { requireUnerased } from "../accounts/erased-account.ts";
import type { Connection } from "../connection/connection.ts";
import type { ReplyStatements } from "../reply-statements.ts";
import { type EventStatements, emitJobEvent } from "../webhooks/webhook-cases.ts";
import type { ChunkClaimStatements } from "./chunk-claim-statements.ts";
import type { ChunkStatements } from "./chunk-statements.ts";
import type { InputStatements } from "./input-statements.ts";
import type { JobStatements } from "./job-statements.ts";
import type { RoundStatements } from "./round-statements.ts";

type Statements = EventStatements & {
  readonly accounts: Pick<AccountStatements, "find">;
  readonly jobs: JobStatements;
  readonly inputs: InputStatements;
  readonly chunks: ChunkStatements;
  readonly claims: ChunkClaimStatements;
  readonly rounds: RoundStatements;
  readonly replies: ReplyStatements;
};

/** Jobs, and the chunk ledger that is their queue. */
export function createJobCases(
  { accounts, jobs, inputs, chunks, claims, rounds, replies, webhooks, deliveries }: Statements,
  { transact, emptyLog }: Pick<Connection, "transact" | "emptyLog">,
  clock: Pick<Clock, "now">,
): AtOnce<JobPort> {
  function isReceiving(jobId: string): boolean {
    const job = jobs.find(jobId);
    return job?.status === "receiving" && job.deletedAt === null;
  }

  function requireReceiving(jobId: string): void {
    if (!isReceiving(jobId)) throw new StorageError("the input of the job is no longer read");
  }

  function countUnchecked(job: JobRecord): JobRecord {
    rounds.countUnchecked(job.jobId);
    return jobs.find(job.jobId) ?? job;
  }

  return {
    createJob: (job, reply, unfinishedMax) =>
      transact(() => {
        requireUnerased(accounts, ownerOf(job.accountId));
        if (jobs.countOf(job.accountId, UNFINISHED) >= unfinishedMax) return false;
        jobs.insert(job);
        if (reply !== null) replies.put(reply);
        return true;
      }),
    claimInput: () => true,
    releaseInput: () => {},
    cutOffJobs: inputs.cutOff,
    lateJobs: inputs.late,
    clearInput: (jobId, limit) =>
      transact(() => {
        requireReceiving(jobId);
        return chunks.erase(jobId, limit);
      }, "with_sync"),
    addJobChunks: (jobId, added) =>
      transact(() => {
        requireReceiving(jobId);
        for (const chunk of added) chunks.add(jobId, chunk);
      }, "with_sync"),
    markDuplicates: (jobId, firstChunk, duplicates) =>
      transact(() => {
        for (const [index, bits] of duplicates.entries()) {
          if (bits !== null) chunks.markDuplicates(jobId, firstChunk + index, bits);
        }
      }, "with_sync"),
    changeJob: (jobId, from, change, options) =>
      transact(() => {
        const before = jobs.find(jobId);
        const after = jobs.change(jobId, from, change, options) ?? null;
        if (after === null || after.status === before?.status) return after;
        const counted = BROKEN_OFF.includes(after.status) ? countUnchecked(after) : after;
        emitJobEvent({ webhooks, deliveries }, counted, clock.now());
        return counted;
      }),
    startJob: (jobId, change, reply) =>
      transact(() => {
        const started = isReceiving(jobId) ? (jobs.change(jobId, ["receiving"], change) ?? null) : null;
        if (started !== null && reply !== null) replies.put(reply);
        return started;
      }),
    findJob: (jobId) => jobs.find(jobId) ?? null,
    jobPage: (page) => {
      const after = page.afterJobId === null ? undefined : jobs.find(page.afterJobId);
      if (page.afterJobId !== null && after?.accountId !== page.accountId) return null;
      return jobs.page(page, after);
    },
    jobsIn: jobs.inStatus,
    failedJobs: rounds.failed,
    unfinishedJobs: jobs.unfinished,
    countJobs: jobs.countOf,
    jobsToErase: jobs.toErase,
    claimChunk: (jobId) =>
      transact(() => {
        const job = jobs.find(jobId);
        if (job === undefined || !RUNNING.includes(job.status)) return null;
        const chunk = claims.claim(jobId);
        return chunk === null ? null : { chunk, job };
      }, "with_sync"),
    claimGap: (jobId) =>
      transact(() => {
        const job = jobs.find(jobId);
        if (job?.status !== "paused" || !claims.hasGap(jobId)) return null;
        const chunk = claims.claim(jobId);
        return chunk === null ? null : { chunk, job };
      }, "with_sync"),
    releaseChunk: (claim, attempts) => transact(() => claims.release(claim, attempts), "with_sync"),
    keepUnchecked: (claim) => transact(() => claims.keepUnchecked(claim), "with_sync"),
    reapChunks: () => transact(() => claims.reap()),
    endRound: (jobId, ended) =>
      transact(() => {
        const job = jobs.find(jobId);
        if (job === undefined) return { changed: null, isWaiting: false };
        // Chunks that were in work when the job failed are finished after it.
        if (BROKEN_OFF.includes(job.status)) rounds.countUnchecked(jobId);
        const unfinished = rounds.unfinished(jobId);
        const end = endOfJob(job, unfinished, ended);
        if (end === null) {
          return { changed: null, isWaiting: unfinished.waiting > 0 && RUNNING.includes(job.status) };
        }
        const isAgain = end.isFirstRound && rounds.requeueUnchecked(jobId) > 0;
        if (BROKEN_OFF.includes(end.change.status)) rounds.countUnchecked(jobId);
        const changed = jobs.change(jobId, [job.status], isAgain ? { round: 2 } : end.change) ?? null;
        if (!isAgain && changed !== null) emitJobEvent({ webhooks, deliveries }, changed, clock.now());
        return { changed, isWaiting: isAgain };
      }),
    chunkResults: chunks.results,
    resultBodies: chunks.resultBodies,
    inputBody: chunks.inputBody,
    eraseChunks: (jobId, limit) => transact(() => chunks.erase(jobId, limit), "with_sync"),
    forgetJob: (jobId) => transact(() => jobs.forget(jobId)),
    clearErased: emptyLog,
  };
}
