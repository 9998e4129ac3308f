import type { Answer } from "dns-packet";
import { normalName } from "../dns/name.ts";
import { PROBED_DOMAINS } from "../domains/denial-watch.ts";
import { createZone, FAULT_KINDS, type Fault, type Owner, TTL_SECONDS, type Zone } from "./zone.ts";

/**
 * Reads a zone in the manner of a master file (RFC 1035, 5): `name [ttl] [IN] type data` on one line, a blank
 * start for the owner of the line above, `$ORIGIN`, `$TTL`, `;` comments, `*` owners. Without `$ORIGIN` every
 * name is absolute. `name [type] !fault [number]` names a fault. The providers that distinguish an honest DNS from one that
 * denies everything take mail unless the zone says something of them, or `$NOPROVIDERS`.
 *
 * @throws Error that names the line, for a line that cannot be read.
 */
export function parseZone(text: string): Zone {
  const owners = new Map<string, Owner>();
  const reader: LineReader = { origin: ".", ttl: TTL_SECONDS, owner: ".", owners, deniesProviders: false };
  for (const [index, line] of text.split("\n").entries()) {
    try {
      readLine(line, reader);
    } catch (error) {
      throw new Error(`zone line ${index + 1}: ${error instanceof Error ? error.message : error}: ${line}`);
    }
  }
  if (!reader.deniesProviders) addProviders(reader);
  return createZone(owners);
}

type LineReader = {
  origin: string;
  ttl: number;
  owner: string;
  readonly owners: Map<string, Owner>;
  deniesProviders: boolean;
};

function readLine(line: string, reader: LineReader): void {
  const tokens = tokenize(line);
  const [first, second] = tokens;
  if (first === undefined) return;
  if (first === "$ORIGIN") {
    reader.origin = absoluteName(second ?? ".", ".");
    return;
  }
  if (first === "$NOPROVIDERS") {
    reader.deniesProviders = true;
    return;
  }
  if (first === "$TTL") {
    reader.ttl = Number(second);
    return;
  }
  if (!/^\s/.test(line)) {
    reader.owner = absoluteName(first, reader.origin);
    tokens.shift();
  }
  readEntry(tokens, reader);
}

function addProviders(reader: LineReader): void {
  for (const domain of PROBED_DOMAINS) {
    if (reader.owners.has(domain)) continue;
    readLine(`${domain}. MX 10 mx.${domain}.`, reader);
    readLine(`mx.${domain}. A 8.8.8.8`, reader);
  }
}

function readEntry(tokens: string[], reader: LineReader): void {
  let ttl = reader.ttl;
  if (/^\d+$/.test(tokens[0] ?? "")) ttl = Number(tokens.shift());
  if (tokens[0]?.toUpperCase() === "IN") tokens.shift();
  const owner = ownerOf(reader.owners, reader.owner);
  const type = tokens[0]?.startsWith("!") ? null : tokens.shift()?.toUpperCase();
  if (type === undefined) return;
  if (tokens[0]?.startsWith("!")) {
    owner.faults.push({ type, fault: readFault(tokens) });
  } else if (type !== null) {
    owner.records.push(readRecord(reader.owner, type, ttl, tokens, reader.origin));
  }
}

function ownerOf(owners: Map<string, Owner>, name: string): Owner {
  const found = owners.get(name);
  if (found !== undefined) return found;
  const owner: Owner = { records: [], faults: [] };
  owners.set(name, owner);
  return owner;
}

/** Splits at blanks; a quoted string is one token; `;` starts a comment. */
function tokenize(line: string): string[] {
  const tokens: string[] = [];
  for (const [token, quoted] of line.matchAll(/"((?:[^"\\]|\\.)*)"|;.*$|[^\s;"]+/g)) {
    if (token.startsWith(";")) break;
    tokens.push(quoted === undefined ? token : quoted.replace(/\\(.)/g, "$1"));
  }
  return tokens;
}

function absoluteName(name: string, origin: string): string {
  if (name === "@") return origin;
  if (name.endsWith(".") || origin === ".") return normalName(name);
  return normalName(`${name}.${origin}`);
}

/** Reads `!kind [number]`. */
export function readFault(tokens: readonly string[]): Fault {
  const word = tokens[0]?.slice(1);
  const kind = FAULT_KINDS.find((known) => known === word);
  if (kind === undefined) throw new Error(`no such fault: ${word}`);
  return { kind, amount: Number(tokens[1] ?? 0) };
}

function readRecord(name: string, type: string, ttl: number, data: string[], origin: string): Answer {
  const base = { name, ttl, class: "IN" } as const;
  const target = (at: number) => absoluteName(data[at] ?? ".", origin);
  switch (type) {
    case "A":
    case "AAAA":
      return { ...base, type, data: data[0] ?? "" };
    case "CNAME":
    case "NS":
    case "PTR":
      return { ...base, type, data: target(0) };
    case "MX":
      return { ...base, type, data: { preference: Number(data[0]), exchange: target(1) } };
    case "TXT":
      return { ...base, type, data };
    case "SOA":
      return { ...base, type, data: soaData([target(0), target(1), ...data.slice(2)]) };
    default:
      throw new Error(`unknown record type ${type}`);
  }
}

function soaData(fields: readonly string[]) {
  const [mname = ".", rname = ".", ...numbers] = fields;
  const [serial = 1, refresh = 3600, retry = 600, expire = 86_400, minimum = TTL_SECONDS] =
    numbers.map(Number);
  return { mname, rname, serial, refresh, retry, expire, minimum };
}
