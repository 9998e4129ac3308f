import { SQL } from "bun";
import { NoRoomError, RowsHeldError, StorageError, StoreOpenError } from "../../storage-error.ts";

/** Classes of SQLSTATE that speak of the server or the connection, not of the statement. */
const STORAGE_CLASSES: ReadonlySet<string> = new Set([
  "08", // connection
  "25", // a transaction that was ended by a time limit, or a server that only reads
  "28", // this user may not log in, as while its password is changed
  "3D", // no such database
  "40", // serialization failure, deadlock
  "53", // no room, too many connections
  "55", // lock not available
  "57", // shutdown, cancelled, cannot connect now
  "58", // I/O
  "XX", // corrupt
]);

const LOCK_TIMEOUT = "55P03";
const DEADLOCK = "40P01";
const DISK_FULL = "53100";
const KINDS: ReadonlyMap<string, typeof StorageError> = new Map([
  [LOCK_TIMEOUT, RowsHeldError],
  [DISK_FULL, NoRoomError],
]);
const NO_RIGHT = "42501";
const SERVER_ERROR = "ERR_POSTGRES_SERVER_ERROR";

/** Returns what the driver threw, without what the query builder put around it. */
function driverError(error: unknown): unknown {
  if (error instanceof SQL.SQLError || !(error instanceof Error) || error.cause === undefined) return error;
  return driverError(error.cause);
}

/** An error of the server or of the way to it becomes a StorageError; any other stays what the driver threw. */
export function asStorageError(thrown: unknown): unknown {
  const error = driverError(thrown);
  if (!(error instanceof SQL.PostgresError)) return error;
  if (error.code === SERVER_ERROR && !isOfServer(error.errno ?? "")) return error;
  const Known = KINDS.get(error.errno ?? "") ?? StorageError;
  return new Known(`${error.errno ?? error.code}: ${error.message}`, { cause: error });
}

function isOfServer(sqlState: string): boolean {
  return sqlState === NO_RIGHT || STORAGE_CLASSES.has(sqlState.slice(0, 2));
}

/** Classes of SQLSTATE with which a server refuses who asks: no such user or database, a wrong password, no right. */
const REFUSAL_CLASSES: ReadonlySet<string> = new Set(["28", "3D", "42"]);

/** What PgBouncer says of limits of time that a connection begins with; a server knows them. */
const REFUSED_BY_POOLER = "unsupported startup parameter";

/** Returns what was thrown as a sentence for the operator who named the server by a setting, where it is of the server; else itself. */
export function asOpenError(
  thrown: unknown,
  setting: "DATABASE_URL" | "DATABASE_DIRECT_URL" = "DATABASE_URL",
): unknown {
  if (thrown instanceof StoreOpenError) return thrown;
  const error = driverError(thrown);
  // An option of the address, such as sslmode, with a value that it does not have.
  if (error instanceof TypeError && "code" in error && error.code === "ERR_INVALID_ARG_VALUE") {
    return new StoreOpenError(`${setting}: ${error.message}.`, { cause: thrown });
  }
  if (error instanceof SQL.PostgresError && REFUSAL_CLASSES.has(error.errno?.slice(0, 2) ?? "")) {
    return new StoreOpenError(`${setting}: the server refuses it (${error.errno}: ${error.message}).`, {
      cause: thrown,
    });
  }
  const known = asStorageError(thrown);
  if (!(known instanceof StorageError)) return thrown;
  if (known.message.includes(REFUSED_BY_POOLER)) {
    return new StoreOpenError(
      `${setting}: a pooler answers there (${known.message}). Set DATABASE_DIRECT_URL to the address of the same PostgreSQL without it.`,
      { cause: thrown },
    );
  }
  return new StoreOpenError(
    `${setting}: the database cannot be used now (${known.message}). Make sure that its host and port are right and that PostgreSQL runs there.`,
    { cause: thrown },
  );
}

/** Classes of SQLSTATE with which a server, or a pooler before it, ends a connection: perhaps after a commit. */
const ENDING_CLASSES: ReadonlySet<string> = new Set(["08", "57", "58", "XX"]);
/** What a standby says of writes. */
const READ_ONLY = "25006";

/** Whether the server is certain to have undone the transaction: it said so itself, and goes on. */
export function isUndone(thrown: unknown): boolean {
  const error = driverError(thrown);
  if (!(error instanceof SQL.PostgresError) || error.code !== SERVER_ERROR) return false;
  return !ENDING_CLASSES.has(error.errno?.slice(0, 2) ?? "");
}

/** What a server says of what it does before a commit alone: it waited for a lock, for its turn, or takes no writes. */
const BEFORE_COMMIT: ReadonlySet<string> = new Set([LOCK_TIMEOUT, "40001", DEADLOCK, READ_ONLY]);

/** Whether a procedure that commits in its midst is certain not to have come so far; false where the error does not say. */
export function isBeforeCommit(thrown: unknown): boolean {
  const error = driverError(thrown);
  return error instanceof SQL.PostgresError && BEFORE_COMMIT.has(error.errno ?? "");
}

/**
 * What ends a transaction that may succeed when it is run again: this process was held up in its midst while the server
 * waited, or others came between.
 */
const TIME_OR_ORDER: ReadonlySet<string> = new Set(["25P03", "40001", DEADLOCK]);

/** Whether the server has undone a transaction for the time it took, or for its order among others. */
export function isTimeOrOrder(thrown: unknown): boolean {
  const error = driverError(thrown);
  return error instanceof SQL.PostgresError && TIME_OR_ORDER.has(error.errno ?? "");
}

/** Whether a statement waited for too long, or in a circle, for what another session holds. */
export function isHeld(thrown: unknown): boolean {
  const error = driverError(thrown);
  return error instanceof SQL.PostgresError && (error.errno === LOCK_TIMEOUT || error.errno === DEADLOCK);
}

/** Whether the connection is gone, or leads to a server that does not take writes. */
export function isLost(thrown: unknown): boolean {
  const error = driverError(thrown);
  if (!(error instanceof SQL.PostgresError)) return false;
  return (
    error.errno === READ_ONLY ||
    error.code !== SERVER_ERROR ||
    ENDING_CLASSES.has(error.errno?.slice(0, 2) ?? "")
  );
}
