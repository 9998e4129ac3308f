import { and, asc, eq, inArray, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { removeInSlices } from "../../../platform/slices.ts";
import type { PartPort } from "../../part-port.ts";
import type { Connection } from "../connection/connection.ts";
import { SERVER_NOW, STATEMENT_NOW } from "../connection/server-clock.ts";
import { jobPartFrames as frames, jobs, jobParts as parts } from "../schema.ts";

const IS_UNCOMMITTED = sql`NOT EXISTS (SELECT 1 FROM ${parts} WHERE ${parts.partId} = ${frames.partId})`;

/** Frames that one transaction removes: 32 MB at most, where a job may keep more than any deadline allows for. */
const FRAMES_AT_ONCE_MAX = 128;

/** Parts of uploads that any node receives, and any node reads. */
export function createPartCases({ transact, read }: Connection): PartPort {
  return {
    addPartFrame: ({ jobId, partId }, frame, body) =>
      transact(async (orm) => {
        await orm
          .insert(frames)
          .values({ jobId, partId, frame, body: Buffer.from(body), writtenAt: SERVER_NOW as never });
      }),

    commitPart: ({ accountId, jobId, n, partId, bytes }, options) =>
      transact(async (orm) => {
        const isUnread = or(isNull(jobs.reader), lt(jobs.readUntil, SERVER_NOW));
        const isReceiving = and(eq(jobs.status, "receiving"), isNull(jobs.deletedAt));
        const [job] = await orm
          .select({ options: jobs.options, reader: jobs.reader })
          .from(jobs)
          .where(and(eq(jobs.jobId, jobId), isReceiving, isUnread))
          .for("no key update");
        if (job === undefined) return "started";
        if (job.options !== options) return "changed";
        // A node that hung while it read the input would start the job without this part.
        const unread = { reader: null, readUntil: null };
        if (job.reader !== null) await orm.update(jobs).set(unread).where(eq(jobs.jobId, jobId));
        const ofPart = and(eq(parts.jobId, jobId), eq(parts.n, n));
        const [former] = await orm.select({ partId: parts.partId }).from(parts).where(ofPart);
        await orm
          .insert(parts)
          .values({ jobId, n, accountId, partId, bytes })
          .onConflictDoUpdate({ target: [parts.jobId, parts.n], set: { partId, bytes } });
        if (former !== undefined) await orm.delete(frames).where(eq(frames.partId, former.partId));
        return "committed";
      }),

    dropPart: (partId) =>
      transact(async (orm) => {
        // Its commit may have succeeded though its answer was lost.
        await orm.delete(frames).where(and(eq(frames.partId, partId), IS_UNCOMMITTED));
      }),

    partsOf: (jobId) =>
      read((orm) =>
        orm
          .select({ n: parts.n, bytes: parts.bytes })
          .from(parts)
          .where(eq(parts.jobId, jobId))
          .orderBy(asc(parts.n)),
      ),

    partBytes: (accountId) =>
      read(async (orm) => {
        const sum = sql`coalesce(sum(${parts.bytes}), 0)`.mapWith(Number);
        const [all, account] = await Promise.all([
          orm.select({ bytes: sum }).from(parts),
          orm.select({ bytes: sum }).from(parts).where(eq(parts.accountId, accountId)),
        ]);
        return { all: all[0]?.bytes ?? 0, account: account[0]?.bytes ?? 0 };
      }),

    partFrame: (jobId, n, frame) =>
      read(async (orm) => {
        const [row] = await orm
          .select({ body: frames.body })
          .from(frames)
          .innerJoin(parts, eq(parts.partId, frames.partId))
          .where(and(eq(parts.jobId, jobId), eq(parts.n, n), eq(frames.frame, frame)));
        return row?.body ?? null;
      }),

    async removeParts(jobId) {
      await transact(async (orm) => {
        await orm.delete(parts).where(eq(parts.jobId, jobId));
      });
      await removeFrames(transact, eq(frames.jobId, jobId));
    },

    removeAbandonedFrames: (olderThanMs) =>
      removeFrames(
        transact,
        and(lt(frames.writtenAt, sql`${STATEMENT_NOW} - ${olderThanMs}::bigint`), IS_UNCOMMITTED),
      ),
  };
}

/** Removes frames in steps. It waits for those that another session removes: none are left once it resolves. */
function removeFrames(transact: Connection["transact"], which: SQL | undefined): Promise<void> {
  const remove = (limit: number) =>
    transact(async (orm) => {
      const some = orm.select({ place: sql`ctid` }).from(frames).where(which).limit(limit).for("update");
      const removed = await orm
        .delete(frames)
        .where(inArray(sql`ctid`, some))
        .returning({ frame: frames.frame });
      return removed.length;
    });
  return removeInSlices(remove, FRAMES_AT_ONCE_MAX, new AbortController().signal);
}
