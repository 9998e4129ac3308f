import { and, eq, gt, inArray, lt, sql } from "drizzle-orm";
import type { ReplyRecord } from "../../account-records.ts";
import { type Admission, type ClaimOutcome, KeyLostError } from "../../admit-port.ts";
import type { Orm } from "../connection/orm.ts";
import { SERVER_NOW } from "../connection/server-clock.ts";
import { idempotencyClaims, idempotentReplies } from "../schema.ts";

/** How long a process keeps claims that it does not renew. */
const LEASE_MS = 15_000;
const LEASE_END = sql<number>`${SERVER_NOW} + ${LEASE_MS}::bigint`;

/**
 * A claim that nobody renews stays for this long: where the database was away, the first node that renews must leave the
 * others theirs. Another call takes it over at once.
 */
const LAPSED_KEPT_MS = 600_000;

/** Takes an Idempotency-Key for a call of a process, unless another call has it. */
export async function claimKey(
  orm: Orm,
  processId: string,
  { accountId, idempotencyKey }: ClaimName,
  fingerprint: string,
): Promise<ClaimOutcome> {
  const claim = { accountId, idempotencyKey, fingerprint, processId };
  const claimed = await orm
    .insert(idempotencyClaims)
    .values({ ...claim, leaseUntil: LEASE_END as never })
    .onConflictDoUpdate({
      target: [idempotencyClaims.accountId, idempotencyClaims.idempotencyKey],
      set: { fingerprint, processId, leaseUntil: LEASE_END },
      setWhere: lt(idempotencyClaims.leaseUntil, SERVER_NOW),
    })
    .returning({ processId: idempotencyClaims.processId });
  if (claimed.length > 0) return { isClaimed: true };
  const [held] = await orm
    .select({ fingerprint: idempotencyClaims.fingerprint })
    .from(idempotencyClaims)
    .where(isClaim({ accountId, idempotencyKey }));
  return { isClaimed: false, fingerprint: held?.fingerprint ?? fingerprint };
}

/** Gives a claim of a process back. */
export async function releaseKey(orm: Orm, processId: string, name: ClaimName): Promise<void> {
  await orm.delete(idempotencyClaims).where(and(isClaim(name), eq(idempotencyClaims.processId, processId)));
}

/**
 * Holds the claim of a call until the end of the transaction, so that what it changes is changed by it alone. Throws a
 * KeyLostError where another process has taken the claim over, or had, and has kept a reply.
 */
export async function holdClaim(orm: Orm, processId: string, reply: ReplyRecord): Promise<void> {
  const { accountId, idempotencyKey, fingerprint } = reply;
  const [held] = await orm
    .insert(idempotencyClaims)
    .values({ accountId, idempotencyKey, fingerprint, processId, leaseUntil: LEASE_END as never })
    .onConflictDoUpdate({
      target: [idempotencyClaims.accountId, idempotencyClaims.idempotencyKey],
      set: { leaseUntil: LEASE_END },
      setWhere: eq(idempotencyClaims.processId, processId),
    })
    .returning({ isNew: sql<boolean>`xmax = 0` });
  if (held === undefined) throw new KeyLostError("another call has the key");
  if (!held.isNew) return;
  const [kept] = await orm
    .select({ expiresAt: idempotentReplies.expiresAt })
    .from(idempotentReplies)
    .where(
      and(
        eq(idempotentReplies.accountId, accountId),
        eq(idempotentReplies.idempotencyKey, idempotencyKey),
        gt(idempotentReplies.expiresAt, SERVER_NOW),
      ),
    );
  if (kept !== undefined) throw new KeyLostError("another call has kept a reply");
}

/** Renews the claims of a process, lapsed ones too, and removes those of processes that are long gone. */
export async function renewLeases(orm: Orm, processId: string): Promise<void> {
  await orm
    .update(idempotencyClaims)
    .set({ leaseUntil: LEASE_END })
    .where(eq(idempotencyClaims.processId, processId));
  await orm
    .delete(idempotencyClaims)
    .where(lt(idempotencyClaims.leaseUntil, sql`${SERVER_NOW} - ${LAPSED_KEPT_MS}::bigint`));
}

type ClaimName = { readonly accountId: string; readonly idempotencyKey: string };

const isClaim = ({ accountId, idempotencyKey }: ClaimName) =>
  and(eq(idempotencyClaims.accountId, accountId), eq(idempotencyClaims.idempotencyKey, idempotencyKey));

/** Returns the name by which `takeClaims` returns a claim. */
export const claimOf = ({ accountId, idempotencyKey }: ClaimName): string => `${accountId} ${idempotencyKey}`;

/** Ends the claims of the replies that are to be written; returns those that this process still had. */
export async function takeClaims(
  orm: Orm,
  processId: string,
  admissions: readonly Admission[],
): Promise<ReadonlySet<string>> {
  const replies = admissions.flatMap(({ reply }) => reply ?? []);
  if (replies.length === 0) return new Set();
  const keys = replies.map(({ idempotencyKey }) => idempotencyKey);
  const rows = await orm
    .delete(idempotencyClaims)
    .where(and(inArray(idempotencyClaims.idempotencyKey, keys), eq(idempotencyClaims.processId, processId)))
    .returning({
      accountId: idempotencyClaims.accountId,
      idempotencyKey: idempotencyClaims.idempotencyKey,
    });
  return new Set(rows.map(claimOf));
}
