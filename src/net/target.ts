import { isEncodable } from "../dns/name.ts";
import { isAddress } from "../dns/public-address.ts";
import { OutgoingError } from "./failure.ts";

/** The rules for targets of requests. */
export type TargetRules = {
  /** Allows private addresses and names, any port and plain http: only for an operator's own network. */
  readonly allowPrivate: boolean;
  readonly ports: readonly number[] | "any";
  /** Allows IP literals, which are checked too. */
  readonly allowLiterals: boolean;
  /** Refuses http. */
  readonly httpsOnly: boolean;
};

/** A target that the rules allow. */
export type Target = {
  readonly url: URL;
  readonly isSecure: boolean;
  /** A name in its ASCII form, or an address without brackets. */
  readonly host: string;
  readonly isLiteral: boolean;
  readonly port: number;
};

/** Names outside the public DNS (RFC 6761, 6762, 7686, 8375 and ICANN's reservation of `internal`). */
const LOCAL_SUFFIXES = [".localhost", ".local", ".internal", ".onion", ".home.arpa"];

/**
 * Parses a URL and checks it against the rules, without a look-up. The URL parser has normalised every spelling of an IPv4
 * address (`0x7f.1`, `2130706433`, `①②⑦.0.0.1`) to a dotted quad. Throws OutgoingError.
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
  const isLiteral = isAddress(host);
  if (!isLiteral && !isEncodable(host)) {
    throw new OutgoingError("bad_url", "the name, or a label of it, is longer than the DNS allows, or empty");
  }
  const target = { url, isSecure, host, isLiteral, port };
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
