import { and, eq, gt, inArray, sql } from "drizzle-orm";
import { testTenantOf } from "../../../platform/test-tenant.ts";
import type { LeasePort } from "../../lease-port.ts";
import type { Connection } from "../connection/connection.ts";
import { LISTENER_NAME, type Listener } from "../connection/listener.ts";
import { builtOnce } from "../connection/orm.ts";
import { LEASE_END, SERVER_NOW } from "../connection/server-clock.ts";
import { putBack } from "../jobs/chunk-rows.ts";
import { jobChunks, jobs, webhookDeliveries } from "../schema.ts";
import { releaseDeliveries } from "../webhooks/webhook-rows.ts";

/** The channel on which nodes name to each other the jobs that one of them cannot do alone. */
const JOBS_CHANNEL = "assay_job_waits";

/** The leases of a cluster's nodes on what they work on. `processId` is of this process alone. */
export function createLeaseCases(
  { transact, read }: Connection,
  processId: string,
  listener: Pick<Listener, "listen">,
): LeasePort {
  return {
    renewLeases: (chunks, jobIds) =>
      transact(async (orm) => {
        if (chunks.length > 0) {
          const held = JSON.stringify(chunks.map(({ jobId, n }) => ({ job_id: jobId, n })));
          await orm
            .update(jobChunks)
            .set({ leaseUntil: LEASE_END })
            .where(
              and(
                sql`(${jobChunks.jobId}, ${jobChunks.n}) IN (
                  SELECT job_id, n FROM json_to_recordset(${held}::text::json) AS held(job_id text, n bigint))`,
                eq(jobChunks.owner, processId),
                sql`${jobChunks.state} = 'claimed'`,
              ),
            );
        }
        if (jobIds.length > 0) {
          await orm
            .update(jobs)
            .set({ readUntil: LEASE_END })
            .where(and(inArray(jobs.jobId, [...jobIds]), eq(jobs.reader, processId)));
        }
      }),

    releaseLeases: (former) =>
      transact(async (orm) => {
        const owner = former ?? processId;
        await putBack(orm, eq(jobChunks.owner, owner), former === null ? "not_counted" : "counted");
        await releaseDeliveries(orm, eq(webhookDeliveries.owner, owner));
        await orm
          .update(jobs)
          .set({ readUntil: 0 })
          .where(and(eq(jobs.reader, owner), eq(jobs.status, "receiving")));
      }),

    accountsInWork: () =>
      read(async (orm) => {
        const rows = await accountsInWork(orm).execute();
        return rows.map(({ accountId, isTest }) => (isTest ? testTenantOf(accountId) : accountId));
      }),

    countProcesses: () =>
      read(async (orm) => {
        const [row] = await orm.execute<{ processes: number }>(
          // Each has a connection that listens and one that speaks to it.
          sql`SELECT count(DISTINCT application_name)::int AS processes FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE ${`${LISTENER_NAME}%`}`,
        );
        return row?.processes ?? 0;
      }),

    announceJob: ({ accountId, jobId }) =>
      transact(async (orm) => {
        await orm.execute(sql`SELECT pg_notify(${JOBS_CHANNEL}, ${`${accountId} ${jobId}`})`);
      }),

    listenForJobs: (onJob) =>
      listener.listen(JOBS_CHANNEL, {
        onMessage(payload) {
          const [accountId = "", jobId = ""] = payload.split(" ");
          onJob({ accountId, jobId });
        },
        resumed: () => undefined,
      }),
  };
}

const accountsInWork = builtOnce((orm) =>
  orm
    .selectDistinct({ accountId: jobs.accountId, isTest: jobs.isTest })
    .from(jobChunks)
    .innerJoin(jobs, eq(jobs.jobId, jobChunks.jobId))
    .where(and(sql`${jobChunks.state} = 'claimed'`, gt(jobChunks.leaseUntil, SERVER_NOW)))
    .prepare("accounts_in_work"),
);
