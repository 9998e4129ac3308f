import { randomUUID } from "node:crypto";
import type { SQL } from "bun";
import { sql } from "drizzle-orm";
import type { Clock } from "../../platform/clock.ts";
import type { SharedStore } from "../port.ts";
import { StoreOpenError } from "../storage-error.ts";
import { createAccountCases } from "./accounts/account-cases.ts";
import { CHANGES_CHANNEL } from "./accounts/account-rows.ts";
import { createKeyCases } from "./accounts/key-cases.ts";
import { createOperatorCases } from "./accounts/operator-cases.ts";
import { createAdmitCases } from "./admission/admit-cases.ts";
import { createInvoiceCases } from "./billing/invoice-cases.ts";
import { createReplyCases } from "./billing/reply-cases.ts";
import { createUsageCases } from "./billing/usage-cases.ts";
import { createLeaseCases } from "./cluster/lease-cases.ts";
import { createSigningCases } from "./cluster/signing-cases.ts";
import { createConnection } from "./connection/connection.ts";
import { urlsOf } from "./connection/database-url.ts";
import { createListener } from "./connection/listener.ts";
import { ANSWER_DEADLINE_MS, requireOneDatabase, withinMs } from "./connection/one-database.ts";
import { asOpenError } from "./connection/postgres-error.ts";
import { createPrimaryFinder, openPool, type Servers } from "./connection/servers.ts";
import { createDirectoryTurnCases } from "./directory/directory-cases.ts";
import { createChunkCases } from "./jobs/chunk-cases.ts";
import { createJobCases } from "./jobs/job-cases.ts";
import { createPartCases } from "./jobs/part-cases.ts";
import { migrate } from "./migrations.ts";
import { probes } from "./schema.ts";
import { createWebhookCases } from "./webhooks/webhook-cases.ts";

export type SharedStoreOptions = {
  /** `postgres://user:password@host:port/database`; of several hosts, with commas between them, the one that takes writes is used. */
  readonly url: string;
  /** The same without the pooler that `url` leads through, which must get no setting that outlives a transaction. */
  readonly directUrl?: string | null;
  readonly clock: Clock;
  /** Of this process alone, never used again. */
  readonly processId?: string;
  readonly connectionsMax?: number;
  /** For each use case. */
  readonly deadlineMs?: number;
};

const CONNECTIONS_MAX = 10;
const DEADLINE_MS = 3_000;
const MIGRATE_DEADLINE_MS = 60_000;
/** The second one keeps bytes as they come. */
const ENCODINGS: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

/**
 * Opens the database of a cluster and brings it to the newest schema. Throws a StoreOpenError, whose message says to the
 * operator what to do, where that is not possible.
 */
export async function openSharedStore(options: SharedStoreOptions): Promise<SharedStore> {
  const { clock, connectionsMax = CONNECTIONS_MAX, deadlineMs = DEADLINE_MS } = options;
  const { directUrl = null, processId = randomUUID() } = options;
  const urls = urlsOf(options.url);
  const directUrls = directUrl === null ? urls : urlsOf(directUrl);
  const isPooled = directUrl !== null;
  await migrateOnce(directUrls, isPooled ? { urls, isPooled } : null, clock);
  const connection = createConnection({ urls, isPooled, clock, connectionsMax, deadlineMs });
  const listener = createListener({ urls: directUrls, processId });
  let isOpen = true;
  return {
    ...createAccountCases(connection, processId),
    ...createKeyCases(connection, processId),
    ...createUsageCases(connection, processId),
    ...createReplyCases(connection),
    ...createInvoiceCases(connection),
    ...createOperatorCases(connection),
    ...createAdmitCases(connection, processId, clock),
    listenForChanges: ({ onChange, resumed }) =>
      listener.listen(CHANGES_CHANNEL, { onMessage: onChange, resumed }),
    ...createJobCases(connection, processId, clock),
    ...createChunkCases(connection, processId, clock),
    ...createLeaseCases(connection, processId, listener),
    ...createPartCases(connection),
    ...createWebhookCases(connection, processId),
    ...createDirectoryTurnCases(connection, processId),
    ...createSigningCases(connection),
    // Each use case is settled for itself: a commit that is not answered rejects with an UnsettledError.
    requireSettled: () => undefined,
    probe: () =>
      connection.transact(async (orm) => {
        const at = Math.floor(clock.now());
        await orm
          .insert(probes)
          .values({ probeId: 1, at })
          .onConflictDoUpdate({ target: probes.probeId, set: { at: sql`${at}::bigint` } });
      }),
    // Rows that were removed leave room that the server keeps for new ones, and does not count.
    space: () =>
      connection.read(async (orm) => {
        const [row] = await orm.execute<{ bytes: string }>(
          sql`SELECT pg_database_size(current_database()) AS bytes`,
        );
        return { usedBytes: Number(row?.bytes ?? 0), freeBytes: 0 };
      }),
    isOpen: () => isOpen,
    stats: () => ({ errors: connection.errors() }),
    close: () => {
      isOpen = false;
      listener.close();
      connection.close();
    },
  };
}

async function migrateOnce(urls: readonly string[], pooled: Servers | null, clock: Clock): Promise<void> {
  let pool: SQL | undefined;
  try {
    const url = await createPrimaryFinder({ urls, isPooled: false }).find();
    pool = openPool({ url, isPooled: false, connectionsMax: 1, deadlineMs: MIGRATE_DEADLINE_MS });
    const asked = pool.unsafe("SELECT current_setting('server_encoding') AS encoding");
    const [server] = await withinMs(ANSWER_DEADLINE_MS, asked);
    requireEncoding(server?.encoding);
    if (pooled !== null) await requireOneDatabase(pool, pooled);
    await withinMs(MIGRATE_DEADLINE_MS, migrate(pool, Math.floor(clock.now())));
  } catch (error) {
    throw asOpenError(error, pooled === null ? "DATABASE_URL" : "DATABASE_DIRECT_URL");
  } finally {
    await pool?.close({ timeout: 0 }).catch(() => undefined);
  }
}

/** Names and documents are in all scripts; a database of another encoding would fail the calls that bring them. */
function requireEncoding(encoding: string): void {
  if (ENCODINGS.has(encoding)) return;
  throw new StoreOpenError(
    `DATABASE_URL: the database is in ${encoding}. Make one with: createdb --encoding=UTF8 --template=template0`,
  );
}
