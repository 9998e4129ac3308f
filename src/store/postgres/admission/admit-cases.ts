import { lt, sql } from "drizzle-orm";
import type { Clock } from "../../../platform/clock.ts";
import type { AccountMonth } from "../../account-records.ts";
import type { AdmissionGroup, AdmissionRules, AdmitPort, Admitted } from "../../admit-port.ts";
import type { Connection } from "../connection/connection.ts";
import { builtOnce } from "../connection/orm.ts";
import { STATEMENT_NOW } from "../connection/server-clock.ts";
import { accountChanges } from "../schema.ts";
import { claimKey, releaseKey, renewLeases } from "./claim-rows.ts";
import { decideGroup } from "./decided-group.ts";
import { isFlushed, removeOldFlushes } from "./flush-rows.ts";
import type { Asked, Writer } from "./group-statements.ts";
import { createPlainGroups } from "./plain-groups.ts";

const CHANGES_KEPT_MS = 3_600_000;

/**
 * After this many groups in a row the server is there, and a statement that commits by itself will be answered. Others
 * begin a transaction first, so that what a server that is away did not get is certain not to be written.
 */
const FOLLOWING_MIN = 2;
/** Longer than a turn of a process that is busy, and its wait for a core. */
const FOLLOWS_WITHIN_MS = 25;
/**
 * A server that is there is taken to be so for this long: under load a disk or a core that stalls is more likely than a
 * server that has gone, and transactions hold their accounts for turns of a node and for the disk, so that those of all
 * nodes would stand in line right behind the stall.
 */
const THERE_FOR_MS = 1_000;

/** Decides over charges where all nodes write them. `processId` is of this process alone, never used again. */
export function createAdmitCases(
  { transact, transactAtOnce, read }: Connection,
  processId: string,
  clock: Pick<Clock, "monotonic">,
): Omit<AdmitPort, "listenForChanges"> {
  const plain = createPlainGroups();
  const laneIds = { calls: processId, chunks: `${processId} chunks` };
  const writerOf = ({ lane, apart }: AdmissionGroup): Writer => ({
    processId,
    laneId: apart === undefined ? laneIds[lane] : `${laneIds[lane]} ${apart}`,
  });
  let answeredMs = Number.NEGATIVE_INFINITY;
  let following = 0;

  async function write(group: AdmissionGroup, rules: AdmissionRules, isThere: boolean): Promise<Admitted> {
    const writer = writerOf(group);
    const asked = plain.asked(group);
    const written = asked === null ? null : await writePlain(writer, group, asked, isThere);
    if (written !== null) return written;
    const learn = (months: ReadonlyMap<string, AccountMonth>) => plain.learn(months, rules);
    return transact((orm) => decideGroup(orm, writer, group, { ...rules, learn }));
  }

  async function writePlain(
    writer: Writer,
    group: AdmissionGroup,
    asked: readonly Asked[],
    isThere: boolean,
  ): Promise<Admitted | null> {
    if (transactAtOnce !== null && isThere) {
      return transactAtOnce(
        (client) => plain.writeAtOnce(client, writer, group, asked),
        (orm) => isFlushed(orm, writer.laneId, group.sequence),
      );
    }
    return group.lane === "chunks" ? null : transact((orm) => plain.write(orm, writer, group, asked));
  }

  async function admitCalls(group: AdmissionGroup, rules: AdmissionRules): Promise<Admitted> {
    const withinMs = following >= FOLLOWING_MIN ? THERE_FOR_MS : FOLLOWS_WITHIN_MS;
    const inRow = clock.monotonic() - answeredMs < withinMs ? following + 1 : 0;
    // Until this one is answered nothing is known.
    following = 0;
    const admitted = await write(group, rules, inRow >= FOLLOWING_MIN);
    following = inRow;
    answeredMs = clock.monotonic();
    return admitted;
  }

  return {
    // Nobody waits for what becomes of a chunk.
    admit: (group, rules) =>
      group.lane === "calls" && group.apart === undefined
        ? admitCalls(group, rules)
        : write(group, rules, group.lane === "chunks"),

    claimKey: (accountId, idempotencyKey, fingerprint) =>
      transact((orm) => claimKey(orm, processId, { accountId, idempotencyKey }, fingerprint)),

    releaseKey: (accountId, idempotencyKey) =>
      transact((orm) => releaseKey(orm, processId, { accountId, idempotencyKey })),

    renewClaims: () =>
      transact(async (orm) => {
        await renewLeases(orm, processId);
        await removeOldFlushes(orm);
        await orm
          .delete(accountChanges)
          .where(lt(accountChanges.changedAt, sql`${STATEMENT_NOW} - ${CHANGES_KEPT_MS}::bigint`));
      }),

    changedAccounts: (withinMs) =>
      read(async (orm) => {
        const rows = await changedWithin(orm).execute({ withinMs });
        return rows.map(({ accountId }) => accountId);
      }),
  };
}

const changedWithin = builtOnce((orm) =>
  orm
    .select({ accountId: accountChanges.accountId })
    .from(accountChanges)
    .where(sql`${accountChanges.changedAt} > ${STATEMENT_NOW} - ${sql.placeholder("withinMs")}::bigint`)
    .prepare("changed_accounts"),
);
