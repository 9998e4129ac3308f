import { isAddress } from "../dns/public-address.ts";
import { OutgoingError } from "./failure.ts";

/** Where requests may go. */
export type TargetRules = {
  /** Lifts what concerns addresses, names, ports and plain http: for one's own network only. */
  readonly allowPrivate: boolean;
  readonly ports: readonly number[] | "any";
  /** Takes addresses in the place of names; they are checked all the same. */
  readonly allowLiterals: boolean;
  /** Refuses http. */
  readonly httpsOnly: boolean;
};

/** An address that the rules let pass. */
export type Target = {
  readonly url: URL;
  readonly isSecure: boolean;
  /** A name in its ASCII form, or an address without brackets. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
};

/** Names that no public DNS holds (RFC 6761, 6762, 7686, 8375 and ICANN's reservation of `internal`). */
const LOCAL_SUFFIXES = [".localhost", ".local", ".internal", ".onion", ".home.arpa"];

/**
 * Reads an address and holds it against the rules; nothing is looked up. The URL parser has brought every spelling
 * of an IPv4 address (`0x7f.1`, `2130706433`, `①②⑦.0.0.1`) to a dotted quad before it is looked at. Throws
 * OutgoingError.
 */
export function readTarget(text: string, rules: TargetRules): Target {
  const url = URL.parse(text);
  if (url === null) throw new OutgoingError("bad_url", "the address cannot be read");
  const isSecure = url.protocol === "https:";
  if (!isSecure && url.protocol !== "http:") {
    throw new OutgoingError("bad_scheme", `${url.protocol}// is neither http nor https`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new OutgoingError("user_info", "the address holds a user name or a password");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
  const target = { url, isSecure, host, isLiteral: isAddress(host), port };
  if (!rules.allowPrivate) checkPublic(target, rules);
  return target;
}

function checkPublic(
  { isSecure, host, isLiteral, port }: Target,
  { ports, httpsOnly, allowLiterals }: TargetRules,
): void {
  if (httpsOnly && !isSecure) throw new OutgoingError("plain_http", "the address is not https");
  if (ports !== "any" && !ports.includes(port))
    throw new OutgoingError("bad_port", `port ${port} is not allowed`);
  if (isLiteral && allowLiterals) return;
  if (isLiteral) throw new OutgoingError("literal_address", `${host} is an address, not a name`);
  const isLocal = !host.includes(".") || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix));
  if (isLocal || host.endsWith(".")) throw new OutgoingError("local_name", `${host} is no public name`);
}
