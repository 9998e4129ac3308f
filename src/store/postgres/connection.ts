import { SQL } from "bun";
import { drizzle } from "drizzle-orm/bun-sql";
import type { Clock } from "../../platform/clock.ts";
import { StorageError, UnsettledError } from "../storage-error.ts";
import type { Orm } from "./orm.ts";
import { asStorageError, isUndone } from "./postgres-error.ts";

export type Connection = {
  /**
   * Runs work as one transaction, and resolves once it is committed. Rejects with a StorageError where it is certain
   * that nothing of it is, and with an UnsettledError where that is not known: the connection was lost during the
   * commit. It never takes longer than `deadlineMs`.
   */
  readonly transact: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>;
  /** Runs statements that only read; never takes longer than `deadlineMs`. */
  readonly read: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>;
  /** Failures of the server or of the way to it since the start. */
  readonly errors: () => number;
  readonly close: () => void;
};

export type ConnectionOptions = {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  readonly connectionsMax: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
};

/** A node that hangs holds its locks no longer than this; less than the deadline of those that wait for them. */
const IDLE_IN_TRANSACTION_MS = 1_500;
/** A new pool no more often than this: a server that is gone must not be flooded with connections. */
const RENEW_EVERY_MS = 250;

/** Returns a pool of connections to a server. Nothing is connected before the first statement. */
export function openPool({ url, connectionsMax, deadlineMs }: Omit<ConnectionOptions, "clock">): SQL {
  return new SQL({
    url,
    max: connectionsMax,
    connectionTimeout: Math.max(1, Math.floor(deadlineMs / 1_000)),
    connection: {
      application_name: "assay",
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      lock_timeout: deadlineMs,
      statement_timeout: deadlineMs,
    },
  });
}

/**
 * Runs statements on a pool of connections. A server that freezes or cannot be reached leaves the statements of the
 * driver pending for ever: they are given up at their deadline, and the pool with them.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { deadlineMs, clock } = options;
  let pool = openPool(options);
  let orm: Orm = drizzle({ client: pool });
  let errors = 0;
  let isClosed = false;
  let renewedMs = Number.NEGATIVE_INFINITY;

  /** Puts a new pool in the place of one that hangs, unless another statement has done so. */
  function renew(hanging: SQL): void {
    if (pool !== hanging || isClosed || clock.monotonic() - renewedMs < RENEW_EVERY_MS) return;
    renewedMs = clock.monotonic();
    pool = openPool(options);
    orm = drizzle({ client: pool });
    abandon(hanging);
  }

  async function withinDeadline<T>(work: Promise<T>): Promise<T> {
    const used = pool;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new StorageError("the database did not answer in time"));
      renew(used);
    }, deadlineMs);
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  function counted(error: unknown): unknown {
    const known = asStorageError(error);
    if (known instanceof StorageError || known instanceof UnsettledError) errors += 1;
    return known;
  }

  function requireOpen(): void {
    if (isClosed) throw new StorageError("the store is closed");
  }

  return {
    async transact(work) {
      requireOpen();
      let isCommitting = false;
      let isGivenUp = false;
      const transaction = orm.transaction(async (inside) => {
        const result = await work(inside);
        // A caller that was refused must not be charged afterwards.
        if (isGivenUp) throw new StorageError("the transaction took too long");
        isCommitting = true;
        return result;
      });
      try {
        return await withinDeadline(transaction);
      } catch (error) {
        isGivenUp = true;
        const known = counted(error);
        if (!isCommitting || isUndone(error) || !(known instanceof StorageError)) throw known;
        throw new UnsettledError(`the commit was not answered: ${known.message}`, { cause: error });
      }
    },
    async read(work) {
      requireOpen();
      try {
        return await withinDeadline(work(orm));
      } catch (error) {
        throw counted(error);
      }
    },
    errors: () => errors,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      abandon(pool);
    },
  };
}

/** Closes a pool without waiting for its statements. */
function abandon(pool: SQL): void {
  pool.close({ timeout: 0 }).catch(() => undefined);
}
