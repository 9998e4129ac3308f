import type { Database } from "bun:sqlite";
import type { AtOnce } from "../../platform/answer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { OperatorPort } from "../operator-port.ts";
import type { EmbeddedStore } from "../port.ts";
import { createAccountCases } from "./accounts/account-cases.ts";
import { createOperatorCases } from "./accounts/operator-cases.ts";
import { createInvoiceCases } from "./billing/invoice-cases.ts";
import { createUsageCases } from "./billing/usage-cases.ts";
import { type ConnectionOptions, createConnection } from "./connection/connection.ts";
import type { SyncFile } from "./connection/log-sync.ts";
import { withStorageErrors } from "./connection/sqlite-error.ts";
import { lockDataDir } from "./data-dir/data-dir-lock.ts";
import {
  asOpenError,
  databasePath,
  openDatabaseFile,
  openMemoryDatabase,
  prepareDataDir,
} from "./data-dir/database-file.ts";
import { requireNotLost } from "./data-dir/lost-database.ts";
import { createJobCases } from "./jobs/job-cases.ts";
import { migrate, requireNewestSchema } from "./migrations.ts";
import { createStatements } from "./statements.ts";
import { createWebhookCases } from "./webhooks/webhook-cases.ts";

type StoreOptions =
  | { readonly dataDir: string; readonly clock: Clock; readonly syncFile?: SyncFile }
  | { readonly path: ":memory:"; readonly clock: Clock };

/**
 * Opens the database of a data directory and takes the directory for this process alone. Throws a
 * StoreOpenError, whose message says what the operator can do, where that is not possible.
 */
export function openStore(options: StoreOptions): EmbeddedStore {
  const { clock } = options;
  if ("path" in options) {
    const database = openMemoryDatabase();
    migrate(database, clock);
    return createStore(database, { clock, path: null, unlock: () => {} });
  }
  const path = databasePath(options.dataDir);
  prepareDataDir(options.dataDir);
  const lock = lockDataDir(options.dataDir);
  let database: Database | undefined;
  try {
    requireNotLost(options.dataDir);
    database = openDatabaseFile(path);
    migrate(database, clock);
    const { syncFile } = options;
    return createStore(database, { clock, path, unlock: lock.release, syncFile });
  } catch (error) {
    database?.close(true);
    lock.release();
    throw asOpenError(path, error);
  }
}

/**
 * Opens the database of a data directory that a running server has taken, for what operators ask of it. Nothing else
 * may be written beside the server. Throws a StoreOpenError where another version wrote the database.
 */
export function openBeside(options: {
  readonly dataDir: string;
  readonly clock: Clock;
}): AtOnce<OperatorPort> & { readonly close: () => void } {
  const path = databasePath(options.dataDir);
  const database = openDatabaseFile(path);
  try {
    requireNewestSchema(database);
    const connection = createConnection(database, { path, clock: options.clock });
    const cases = createOperatorCases(createStatements(connection.orm), connection.transact);
    return { ...withStorageErrors(cases, connection.counted), close: connection.close };
  } catch (error) {
    database.close(true);
    throw asOpenError(path, error);
  }
}

function createStore(
  database: Database,
  options: ConnectionOptions & { readonly unlock: () => void },
): EmbeddedStore {
  const { clock, unlock } = options;
  const connection = createConnection(database, options);
  const { transact, counted, waitForDisk } = connection;
  const statements = createStatements(connection.orm);
  const { record, sync, ...usage } = createUsageCases(statements, connection);
  let isOpen = true;
  return {
    // Between groups of charges nothing else is written as a rule, so these two leave the setting as it is.
    ...withStorageErrors({ record, sync }, counted),
    ...withStorageErrors(
      {
        ...createAccountCases(statements, transact),
        ...usage,
        ...createInvoiceCases(statements, transact),
        ...createOperatorCases(statements, transact),
        ...createJobCases(statements, connection, clock),
        ...createWebhookCases(statements, transact),
        space: () => spaceOf(database),
        probe: (): void => {
          connection.assertFileInPlace();
          connection.requireSettled();
          statements.probe(clock.now());
        },
      },
      counted,
      waitForDisk,
    ),
    // Looked at by every call that is charged, and throws what callers of the store are to see.
    requireSettled: connection.requireSettled,
    isOpen: () => isOpen,
    stats: () => ({ errors: connection.errors() }),
    close: () => {
      if (!isOpen) return;
      isOpen = false;
      connection.close();
      unlock();
    },
  };
}

/** What is in the log of the database alone is counted with the next checkpoint. */
function spaceOf(database: Database): { usedBytes: number; freeBytes: number } {
  const read = (name: string): number =>
    Object.values(database.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {})[0] ?? 0;
  const pageBytes = read("page_size");
  const freeBytes = read("freelist_count") * pageBytes;
  return { usedBytes: read("page_count") * pageBytes - freeBytes, freeBytes };
}
