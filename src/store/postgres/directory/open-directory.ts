import type { Clock } from "../../../platform/clock.ts";
import type { DirectoryFilePort } from "../../directory-port.ts";
import { StoreOpenError } from "../../storage-error.ts";
import { createConnection } from "../connection/connection.ts";
import { parseDatabaseUrl } from "../connection/database-url.ts";
import { createDirectoryFileCases } from "./directory-cases.ts";

const CONNECTIONS_MAX = 1;
/** Parts are up to a megabyte. */
const DEADLINE_MS = 10_000;

/** Opens what the thread that syncs the directory of a cluster reads and writes. Throws a StoreOpenError. */
export function openDirectoryFiles(options: {
  readonly url: string;
  /** The url leads through a pooler. */
  readonly isPooled: boolean;
  /** Of the process that has the turn. */
  readonly processId: string;
  readonly clock: Clock;
}): DirectoryFilePort {
  const urls = parseDatabaseUrl(options.url);
  if (urls === null) throw new StoreOpenError("DATABASE_URL is no address of a PostgreSQL.");
  const { isPooled, processId, clock } = options;
  const limits = { connectionsMax: CONNECTIONS_MAX, deadlineMs: DEADLINE_MS };
  return createDirectoryFileCases(createConnection({ urls, isPooled, clock, ...limits }), processId);
}
