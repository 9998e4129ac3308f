import { decodePercent } from "../../../platform/percent-escapes.ts";
import { StoreOpenError } from "../../storage-error.ts";

const DATABASE_URL = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#@]+)(\/[^/?#]+)(?:\?([^#]*))?$/;
/** What libpq calls a server that takes writes; of several hosts nodes use no other. */
const TARGETS: ReadonlySet<string> = new Set(["read-write", "primary"]);
const HOSTS_MAX = 16;

/**
 * Returns one address for each host of `postgres://user:password@host:port,host:port/database`, or null for what is
 * no such address.
 */
export function parseDatabaseUrl(text: string): readonly string[] | null {
  const [, head = "", hosts = "", path = "", query = ""] = DATABASE_URL.exec(text) ?? [];
  const options = new URLSearchParams(query);
  const target = options.get("target_session_attrs");
  if (target !== null && !TARGETS.has(target)) return null;
  // The driver would send it to the server.
  options.delete("target_session_attrs");
  const rest = options.size === 0 ? "" : `?${options.toString()}`;
  const urls = hosts.split(",").map((host) => `${head}${host}${path}${rest}`);
  const isWhole = urls.length <= HOSTS_MAX && urls.every((url) => (URL.parse(url)?.hostname ?? "") !== "");
  return isWhole && isText(head) && isText(path) ? urls : null;
}

/** Returns the same; throws a StoreOpenError for what is no such address. */
export function urlsOf(text: string): readonly string[] {
  const urls = parseDatabaseUrl(text);
  if (urls === null) throw new StoreOpenError("DATABASE_URL is no address of a PostgreSQL.");
  return urls;
}

/** Whether every `%` begins an escape of UTF-8: on others, and on NUL, the driver throws what speaks of no setting. */
function isText(escaped: string): boolean {
  return decodePercent(escaped)?.includes("\0") === false;
}
