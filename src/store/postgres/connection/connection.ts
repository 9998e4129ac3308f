import { setTimeout as elapsed } from "node:timers/promises";
import type { SQL } from "bun";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";
import type { Clock } from "../../../platform/clock.ts";
import { StorageError, UnsettledError } from "../../storage-error.ts";
import type { Orm } from "./orm.ts";
import { asStorageError, isBeforeCommit, isLost, isTimeOrOrder, isUndone } from "./postgres-error.ts";
import { abandon, createPrimaryFinder, openPool, type Servers, serverLimits } from "./servers.ts";

export type Connection = {
  /**
   * Runs work as one transaction, and resolves once it is committed. Rejects with a StorageError where it is certain
   * that nothing of it is, and with an UnsettledError where that is not known: the connection was lost during the
   * commit. It never takes longer than `deadlineMs`. Work that the server has undone for the time it took, or for its
   * order among others, is run once more: it must leave no trace but in the database.
   */
  readonly transact: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>;
  /**
   * Runs one statement that commits by itself; rejects as `transact` does, with an UnsettledError wherever it was sent
   * and not answered. It may do more once it has committed: where the server says that something went wrong, `isWritten`
   * is asked whether that was before. Locks that it takes are never held for a turn of this process. Null behind a
   * pooler: the limits of time need a transaction around each statement there.
   */
  readonly transactAtOnce:
    | (<T>(
        statement: (client: Client, orm: Orm) => Promise<T>,
        isWritten: (orm: Orm) => Promise<boolean>,
      ) => Promise<T>)
    | null;
  /** Runs statements that only read; never takes longer than `deadlineMs`. */
  readonly read: <T>(work: (orm: Orm) => Promise<T>) => Promise<T>;
  /** Failures of the server or of the way to it since the start. */
  readonly errors: () => number;
  readonly close: () => void;
};

/** A connection of the driver. */
export type Client = Pick<SQL, "unsafe">;

export type ConnectionOptions = Servers & {
  readonly connectionsMax: number;
  readonly deadlineMs: number;
  readonly clock: Clock;
};

/** A new pool no more often than this: a server that is gone must not be flooded with connections. */
const RENEW_EVERY_MS = 250;
/** Whether the server of several that is used still takes writes is asked this often: its reads might be old. */
const CONFIRM_EVERY_MS = 1_000;

/** A pool of connections to one server. */
type Place = {
  readonly url: string;
  readonly pool: SQL;
  readonly orm: Orm;
  /** Counts what was begun and what was done there: while it grows, the server is there. */
  answers: number;
};

/**
 * Runs statements on a pool of connections. A server that freezes or cannot be reached leaves the statements of the
 * driver pending for ever: they are given up at their deadline, and the pool with them where it answers nobody. Of
 * several servers it uses the one that takes writes, and looks for another once that one does not.
 */
export function createConnection(options: ConnectionOptions): Connection {
  const { urls, isPooled, deadlineMs, clock } = options;
  const finder = createPrimaryFinder(options);
  const limits = serverLimits(deadlineMs);
  let place: Place | null = urls.length === 1 && urls[0] !== undefined ? openPlace(urls[0]) : null;
  let finding: Promise<Place> | null = null;
  let errors = 0;
  let isClosed = false;
  let renewedMs = Number.NEGATIVE_INFINITY;
  const confirming = urls.length === 1 ? undefined : setInterval(confirm, CONFIRM_EVERY_MS);

  function openPlace(url: string): Place {
    const pool = openPool({ ...options, url });
    return { url, pool, orm: drizzle({ client: pool }), answers: 0 };
  }

  /** Looks for the server that takes writes, and leaves the one that was used where it is another one now. */
  function find(): Promise<Place> {
    finding ??= (async () => {
      const url = await finder.find();
      if (isClosed) throw new StorageError("the store is closed");
      if (place?.url === url) return place;
      if (place !== null) abandon(place.pool);
      place = openPlace(url);
      return place;
    })().finally(() => {
      finding = null;
    });
    return finding;
  }

  function confirm(): void {
    // Statements say what is wrong.
    find().catch(() => undefined);
  }

  /** Puts a new pool in the place of one that hangs, unless another statement has done so. */
  function renew(hanging: Place): void {
    if (place !== hanging || isClosed || clock.monotonic() - renewedMs < RENEW_EVERY_MS) return;
    renewedMs = clock.monotonic();
    place = urls.length === 1 ? openPlace(hanging.url) : null;
    abandon(hanging.pool);
  }

  /** `work` calls `begun` where the server has answered it before its end: a transaction that has begun. */
  async function withinDeadline<T>(work: (orm: Orm, pool: SQL, begun: () => void) => Promise<T>): Promise<T> {
    let used = place;
    // All there are where no other call was answered since this one began.
    let ownAnswers = used?.answers ?? 0;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new StorageError("the database did not answer in time"));
      if (used === null) return;
      if (used.answers === ownAnswers) renew(used);
      else void leaveHanging(used, running);
    }, deadlineMs);
    const run = async (): Promise<T> => {
      if (used === null) {
        used = await find();
        ownAnswers = used.answers;
      }
      const at = used;
      const answered = () => {
        at.answers += 1;
      };
      try {
        const result = await work(at.orm, at.pool, () => {
          ownAnswers += 1;
          answered();
        });
        answered();
        return result;
      } catch (error) {
        if (isUndone(error)) answered();
        throw error;
      }
    };
    const running = run();
    try {
      return await Promise.race([running, late]);
    } catch (error) {
      if (urls.length > 1 && isLost(error)) confirm();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Others are answered where this was not. Either it waited for too long, and the server ends what it waits for within
   * another deadline, or its connection alone hangs, which no pool notices.
   */
  async function leaveHanging(used: Place, running: Promise<unknown>): Promise<void> {
    const isOver = running.then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([isOver, elapsed(deadlineMs, false, { ref: false })]))) renew(used);
  }

  function counted(error: unknown): unknown {
    const known = asStorageError(error);
    if (known instanceof StorageError || known instanceof UnsettledError) errors += 1;
    return known;
  }

  function requireOpen(): void {
    if (isClosed) throw new StorageError("the store is closed");
  }

  /** Runs work in a transaction with the limits that the server keeps; behind a pooler they hold for that one alone. */
  async function limited<T>(inside: Orm, work: (orm: Orm) => Promise<T>): Promise<T> {
    if (!isPooled) return work(inside);
    const settings = Object.entries(limits).map(
      ([name, ms]) => sql`set_config(${name}::text, ${String(ms)}::text, true)`,
    );
    await inside.execute(sql`SELECT ${sql.join(settings, sql`, `)}`);
    return work(inside);
  }

  /** What became of a transaction, by what was thrown; `isSent` once it may have been committed. */
  function fateOf(error: unknown, isSent: boolean): unknown {
    const known = counted(error);
    if (!isSent || isUndone(error) || !(known instanceof StorageError)) return known;
    return unsettled(known, error);
  }

  const unsettled = ({ message }: StorageError, cause: unknown): UnsettledError =>
    new UnsettledError(`the commit was not answered: ${message}`, { cause });

  async function transact<T>(work: (orm: Orm) => Promise<T>): Promise<T> {
    requireOpen();
    let isCommitting = false;
    let isGivenUp = false;
    try {
      return await withinDeadline((orm, _, begun) => {
        const once = () => {
          isCommitting = false;
          return orm.transaction(async (inside) => {
            begun();
            const result = await limited(
              untilGivenUp(inside, () => isGivenUp),
              work,
            );
            // A caller that was refused must not be charged afterwards.
            if (isGivenUp) throw new StorageError("the transaction took too long");
            isCommitting = true;
            return result;
          });
        };
        return once().catch((error: unknown) => {
          if (isGivenUp || !isTimeOrOrder(error)) throw error;
          return once();
        });
      });
    } catch (error) {
      isGivenUp = true;
      throw fateOf(error, isCommitting);
    }
  }

  async function transactAtOnce<T>(
    statement: (client: Client, orm: Orm) => Promise<T>,
    isWritten: (orm: Orm) => Promise<boolean>,
  ): Promise<T> {
    requireOpen();
    let isSent = false;
    try {
      return await withinDeadline((orm, pool) => {
        isSent = true;
        return statement(pool, orm);
      });
    } catch (error) {
      const fate = fateOf(error, isSent);
      if (!isSent || !(fate instanceof StorageError) || isBeforeCommit(error)) throw fate;
      // The statement is over, so what is not there now never will be.
      const isThere = await withinDeadline(isWritten).catch(() => true);
      throw isThere ? unsettled(fate, error) : fate;
    }
  }

  /** A read that the server did not end would take the pool of all others with it. */
  const limitedRead = <T>(work: (orm: Orm) => Promise<T>): Promise<T> =>
    withinDeadline((orm, _, begun) =>
      orm.transaction((inside) => {
        begun();
        return limited(inside, work);
      }),
    );

  return {
    transact,
    transactAtOnce: isPooled ? null : transactAtOnce,
    async read(work) {
      requireOpen();
      try {
        return await (isPooled ? limitedRead(work) : withinDeadline(work));
      } catch (error) {
        throw counted(error);
      }
    },
    errors: () => errors,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      clearInterval(confirming);
      if (place !== null) abandon(place.pool);
    },
  };
}

/** A transaction whose next statement is refused once it is given up: it would hold what it has locked for others. */
function untilGivenUp(orm: Orm, isGivenUp: () => boolean): Orm {
  return new Proxy(orm, {
    get(target, name) {
      if (isGivenUp()) throw new StorageError("the transaction took too long");
      return Reflect.get(target, name);
    },
  });
}
