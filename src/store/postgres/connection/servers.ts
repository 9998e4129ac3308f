import { setTimeout as elapsed } from "node:timers/promises";
import { SQL } from "bun";
import { StorageError } from "../../storage-error.ts";

/** How a node reaches the database of its cluster. */
export type Servers = {
  /** One address a host; of several hosts the one that takes writes is used. */
  readonly urls: readonly string[];
  /** A pooler is in between, whose connections are another one with each transaction. */
  readonly isPooled: boolean;
};

export type PoolOptions = Pick<Servers, "isPooled"> & {
  readonly url: string;
  readonly connectionsMax: number;
  readonly deadlineMs: number;
};

/** A node that hangs holds its locks no longer than this; less than the deadline of those that wait for them. */
const IDLE_IN_TRANSACTION_MS = 1_200;
/**
 * Of a deadline: longer than a node that hangs holds its locks, and short enough that the server says what was waited for,
 * also where others wait for the same row: the server counts the wait for its turn and that for the row each by itself.
 */
const LOCK_WAIT_SHARE = 7 / 15;
/** A host that answers later than the first one that takes writes by more than this is passed over. */
const OTHERS_WAIT_MS = 200;
const FIND_DEADLINE_MS = 1_500;
/** A timer that keeps no process from its end. */
const UNAWAITED = { ref: false };

/**
 * In seconds by setting. A machine with a node that loses its power says no goodbye: its connections, and what they
 * hold, would be there for hours, as many as the server takes.
 */
export const KEEPALIVES: { readonly [setting: string]: number } = {
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
};

/**
 * Returns the limits of time that the server itself keeps, in milliseconds by setting. That of a statement is no less than
 * the deadline of its caller: a commit whose wait for a standby it cuts short is answered as if the standby had it.
 */
export function serverLimits(deadlineMs: number): { readonly [setting: string]: number } {
  return {
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    lock_timeout: Math.floor(deadlineMs * LOCK_WAIT_SHARE),
    statement_timeout: deadlineMs,
  };
}

/** Returns a pool of connections to a server. Nothing is connected before the first statement. */
export function openPool({ url, isPooled, connectionsMax, deadlineMs }: PoolOptions): SQL {
  return new SQL({
    url,
    max: connectionsMax,
    connectionTimeout: Math.max(1, Math.floor(deadlineMs / 1_000)),
    // A pooler refuses settings that it does not know, and a prepared statement stays on the connection that it was made on.
    prepare: !isPooled,
    ...(isPooled
      ? {}
      : { connection: { application_name: "assay", ...serverLimits(deadlineMs), ...KEEPALIVES } }),
  });
}

/** Closes a pool without waiting for its statements. */
export function abandon(pool: SQL): void {
  pool.close({ timeout: 0 }).catch(() => undefined);
}

/** Finds the one host that takes writes. */
export type PrimaryFinder = {
  /** Returns its address at once where there is one host, else asks all; throws a StorageError where none takes writes. */
  readonly find: () => Promise<string>;
};

/**
 * Remembers the newest timeline that it has seen: a former primary that comes back and takes writes is older than the
 * standby that took its place, and is never chosen again.
 */
export function createPrimaryFinder({ urls, isPooled }: Servers): PrimaryFinder {
  let newest = 0;
  return {
    find: async () => {
      const [only] = urls;
      if (urls.length === 1 && only !== undefined) return only;
      const found: { readonly url: string; readonly timeline: number }[] = [];
      const { promise: isFirst, resolve: seeFirst } = Promise.withResolvers<void>();
      const asked = urls.map(async (url) => {
        const timeline = await timelineOf(url, isPooled);
        if (timeline === null || timeline < newest) return;
        found.push({ url, timeline });
        seeFirst();
      });
      const all = Promise.allSettled(asked);
      await Promise.race([
        all,
        isFirst.then(() => elapsed(OTHERS_WAIT_MS, null, UNAWAITED)),
        elapsed(FIND_DEADLINE_MS, null, UNAWAITED),
      ]);
      const [best] = found.toSorted((one, other) => other.timeline - one.timeline);
      if (best === undefined) throw new StorageError("no server of the cluster takes writes");
      newest = best.timeline;
      return best.url;
    },
  };
}

/** Returns the timeline of a server that takes writes, and null for a standby. */
async function timelineOf(url: string, isPooled: boolean): Promise<number | null> {
  const pool = openPool({ url, isPooled, connectionsMax: 1, deadlineMs: FIND_DEADLINE_MS });
  const giveUp = setTimeout(() => abandon(pool), FIND_DEADLINE_MS);
  try {
    const rows: readonly { readonly timeline: string | null }[] = await pool.unsafe(TIMELINE);
    const timeline = rows[0]?.timeline ?? null;
    return timeline === null ? null : Number.parseInt(timeline, 16);
  } finally {
    clearTimeout(giveUp);
    abandon(pool);
  }
}

/** The name of the file that is written begins with the timeline. */
const TIMELINE = `
  SELECT CASE WHEN current_setting('transaction_read_only') = 'on' OR pg_is_in_recovery() THEN NULL
    ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`;
