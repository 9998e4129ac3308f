import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import {
  type DirectoryFile,
  type DirectoryFilePort,
  DirectoryTurnLostError,
  type DirectoryTurnPort,
} from "../../directory-port.ts";
import type { Connection } from "../connection/connection.ts";
import { builtOnce, type Orm } from "../connection/orm.ts";
import { SERVER_NOW } from "../connection/server-clock.ts";
import { directoryParts as parts, directoryState as states } from "../schema.ts";

/** Renewed each second: what only hangs for a moment keeps its turn, and another goes on within ten seconds. */
const TURN_MS = 5_000;
const STATE_ID = 1;

const ofState = eq(states.stateId, STATE_ID);

/** The turn to sync the directory. `processId` is of this process alone. */
export function createDirectoryTurnCases(
  { transact, read }: Connection,
  processId: string,
): DirectoryTurnPort {
  const isFree = or(isNull(states.owner), eq(states.owner, processId), lt(states.leaseUntil, SERVER_NOW));
  const turn = builtOnce((orm) =>
    orm
      .select({ ...AGE, revision: states.revision, isFree: sql<boolean>`${isFree}` })
      .from(states)
      .where(ofState)
      .prepare("directory_turn"),
  );
  const take = builtOnce((orm) =>
    orm
      .update(states)
      .set({
        term: sql`${states.term} + CASE WHEN ${states.owner} = ${processId} THEN 0 ELSE 1 END`,
        owner: processId,
        leaseUntil: sql`${SERVER_NOW} + ${TURN_MS}::bigint`,
      })
      .where(and(ofState, isFree))
      .returning({ ...AGE, revision: states.revision, term: states.term })
      .prepare("take_directory_turn"),
  );
  return {
    takeDirectoryTurn: async () => {
      const [found] = await read((orm) => turn(orm).execute());
      const { revision = 0, syncedAt = 0, upstreamAgeMs = 0 } = found ?? {};
      const known = { revision, syncedAt, upstreamAgeMs };
      if (found?.isFree === false) return { ...known, term: null };
      return transact(async (orm) => {
        if (found === undefined) await orm.insert(states).values({ stateId: STATE_ID }).onConflictDoNothing();
        const [taken] = await take(orm).execute();
        return taken ?? { ...known, term: null };
      });
    },

    leaveDirectoryTurn: () =>
      transact(async (orm) => {
        await orm
          .update(states)
          .set({ owner: null, leaseUntil: null })
          .where(and(ofState, eq(states.owner, processId)));
      }),
  };
}

const AGE = { syncedAt: states.syncedAt, upstreamAgeMs: states.upstreamAgeMs };

/** What the thread that syncs for the process `processId` reads and publishes, on a connection of its own. */
export function createDirectoryFileCases(
  { transact, read }: Connection,
  processId: string,
): DirectoryFilePort {
  /** Runs work while the turn can go to nobody else. A term that a fail-over has lost is given again, to any process. */
  const inTerm = <T>(term: number, work: (orm: Orm) => Promise<T>): Promise<T> =>
    transact(async (orm) => {
      const [held] = await orm
        .select({ stateId: states.stateId })
        .from(states)
        .where(and(ofState, eq(states.term, term), eq(states.owner, processId)))
        .for("no key update");
      if (held === undefined) throw new DirectoryTurnLostError("another node syncs the directory now");
      return work(orm);
    });
  return {
    readDirectory: (knownRevision) =>
      read(async (orm) => {
        const [row] = await orm
          .select({ ...AGE, revision: states.revision, state: states.state })
          .from(states)
          .where(and(ofState, sql`${states.revision} <> ${knownRevision}`));
        return row === undefined || row.state === null ? null : { ...row, state: row.state };
      }),

    readDirectoryPart: (file, startsAt) =>
      read(async (orm) => {
        const [row] = await orm
          .select({ body: parts.body })
          .from(parts)
          .where(and(eq(parts.file, file), eq(parts.startsAt, startsAt)));
        return row?.body ?? null;
      }),

    keepDirectoryFiles: (term, files) => inTerm(term, (orm) => keepFiles(orm, files)),

    putDirectoryPart: (term, file, startsAt, body) =>
      inTerm(term, async (orm) => {
        await orm.insert(parts).values({ file, startsAt, body: Buffer.from(body) });
      }),

    publishDirectory: (term, { state, files, ...age }) =>
      inTerm(term, async (orm) => {
        await keepFiles(orm, files);
        const [row] = await orm
          .update(states)
          .set({ ...age, state, revision: sql`${states.revision} + 1` })
          .where(ofState)
          .returning({ revision: states.revision });
        return row?.revision ?? 0;
      }),

    confirmDirectory: (term, { syncedAt, upstreamAgeMs }) =>
      inTerm(term, async (orm) => {
        await orm.update(states).set({ syncedAt, upstreamAgeMs }).where(ofState);
      }),
  };
}

async function keepFiles(orm: Orm, files: readonly DirectoryFile[]): Promise<void> {
  const kept = JSON.stringify(files);
  await orm.delete(parts).where(
    sql`NOT EXISTS (SELECT 1 FROM json_to_recordset(${kept}::text::json) AS kept(file text, bytes bigint)
      WHERE kept.file = ${parts.file} AND ${parts.startsAt} < kept.bytes)`,
  );
}
