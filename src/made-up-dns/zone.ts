import type { Answer, RecordType as WireType } from "dns-packet";
import { normalName } from "../dns/name.ts";

/** What a made-up DNS server does in place of a plain answer; the number is milliseconds or a count. */
export type Fault = { readonly kind: FaultKind; readonly amount: number };

export const FAULT_KINDS = [
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

/** What is said of a name, which may begin with `*`. */
export type Owner = { readonly records: Answer[]; readonly faults: { type: string | null; fault: Fault }[] };

export const TTL_SECONDS = 300;
const ALIASES_MAX = 12;
const ROOT_SOA: Answer = {
  type: "SOA",
  name: ".",
  ttl: TTL_SECONDS,
  class: "IN",
  data: {
    mname: "ns.fixture",
    rname: "hostmaster.fixture",
    serial: 1,
    refresh: 3600,
    retry: 600,
    expire: 86_400,
    minimum: TTL_SECONDS,
  },
};

/** Creates the zone of what is said of its names, in lower case and without the last dot. */
export function createZone(owners: ReadonlyMap<string, Owner>): Zone {
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
