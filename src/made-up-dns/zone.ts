import type { Answer, RecordType as WireType } from "dns-packet";
import { normalName } from "../dns/name.ts";
import { PROBED_DOMAINS } from "../domains/denial-watch.ts";

/** What a made-up DNS server does in place of a plain answer; the number is milliseconds or a count. */
export type Fault = { readonly kind: FaultKind; readonly amount: number };

const FAULT_KINDS = [
  "servfail",
  "refused",
  "formerr",
  "notimp",
  "formerr-edns",
  "silent",
  "drop",
  "delay",
  "truncate",
  "tcp-close",
  "no-soa",
  "garbage",
  "wrong-id",
  "wrong-question",
  "wrong-source",
  "referral",
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** All that a made-up DNS server knows: the whole DNS, as far as its clients can see. */
export type Zone = {
  readonly resolve: (name: string, type: WireType) => ZoneAnswer;
  readonly faults: (name: string, type: WireType) => readonly Fault[];
};

export type ZoneAnswer = {
  readonly rcode: "NOERROR" | "NXDOMAIN";
  readonly answers: readonly Answer[];
  /** The SOA record of a negative answer. */
  readonly authorities: readonly Answer[];
};

type Owner = { readonly records: Answer[]; readonly faults: { type: string | null; fault: Fault }[] };

const TTL_SECONDS = 300;
const ALIASES_MAX = 12;
const ROOT_SOA: Answer = {
  type: "SOA",
  name: ".",
  ttl: TTL_SECONDS,
  class: "IN",
  data: soaData(["ns.fixture", "hostmaster.fixture", "1", "3600", "600", "86400", String(TTL_SECONDS)]),
};

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
  const existing = new Set(["."]);
  for (const [name, owner] of owners) {
    if (owner.records.length === 0 && owner.faults.length > 0) continue;
    for (let at: string | null = name; at !== null; at = parentOf(at)) existing.add(at);
  }
  return {
    resolve: (name, type) => resolve(owners, existing, normalName(name), type),
    faults: (name, type) => faultsOf(owners, normalName(name), type),
  };
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

function parentOf(name: string): string | null {
  if (name === ".") return null;
  const dot = name.indexOf(".");
  return dot < 0 ? "." : name.slice(dot + 1);
}

function resolve(
  owners: ReadonlyMap<string, Owner>,
  existing: ReadonlySet<string>,
  asked: string,
  type: WireType,
): ZoneAnswer {
  const answers: Answer[] = [];
  let name = asked;
  for (let hops = 0; hops <= ALIASES_MAX; hops++) {
    const records = recordsAt(owners, existing, name);
    if (records === null) return { rcode: "NXDOMAIN", answers, authorities: [soaFor(owners, name)] };
    const found = records.filter((record) => record.type === type);
    const alias = records.find((record) => record.type === "CNAME");
    if (found.length > 0 || alias?.type !== "CNAME") {
      answers.push(...found.map((record) => ({ ...record, name }) as Answer));
      return { rcode: "NOERROR", answers, authorities: found.length > 0 ? [] : [soaFor(owners, name)] };
    }
    answers.push({ ...alias, name });
    name = normalName(alias.data);
  }
  return { rcode: "NOERROR", answers, authorities: [] };
}

/** The records of a name or of the wildcard that stands for it; null where the name does not exist. */
function recordsAt(
  owners: ReadonlyMap<string, Owner>,
  existing: ReadonlySet<string>,
  name: string,
): readonly Answer[] | null {
  if (existing.has(name)) return owners.get(name)?.records ?? [];
  let encloser = parentOf(name);
  while (encloser !== null && !existing.has(encloser)) encloser = parentOf(encloser);
  const wildcard = encloser === "." || encloser === null ? "*" : `*.${encloser}`;
  return existing.has(wildcard) ? (owners.get(wildcard)?.records ?? []) : null;
}

function soaFor(owners: ReadonlyMap<string, Owner>, name: string): Answer {
  for (let at: string | null = name; at !== null; at = parentOf(at)) {
    const soa = owners.get(at)?.records.find((record) => record.type === "SOA");
    if (soa !== undefined) return soa;
  }
  return ROOT_SOA;
}

function faultsOf(owners: ReadonlyMap<string, Owner>, name: string, type: WireType): readonly Fault[] {
  let owner = owners.get(name);
  for (let at = parentOf(name); owner === undefined && at !== null; at = parentOf(at)) {
    owner = owners.get(at === "." ? "*" : `*.${at}`);
  }
  const faults = owner?.faults ?? [];
  return faults.filter((entry) => entry.type === null || entry.type === type).map((entry) => entry.fault);
}
