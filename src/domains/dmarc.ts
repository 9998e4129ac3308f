/**
 * DMARC policy discovery (RFC 9989, 4.7 and 4.10): the record of the domain itself, else that of its
 * organizational domain, else that of its public suffix, found by walking up the DNS tree.
 */
import type { DnsCache } from "../dns/cache.ts";
import { NOT_ALLOWED } from "../dns/query-allowance.ts";
import type { MailPolicy } from "../verification/email/domain-facts.ts";
import { lookUpWithin, type SharedAllowance } from "./allowed-lookup.ts";

type Policy = NonNullable<MailPolicy["dmarc"]["policy"]>;

export type DmarcFinding = {
  readonly state: MailPolicy["dmarc"]["state"];
  readonly policy: Policy | null;
  /** The policy that applies if the domain does not exist. */
  readonly policyIfMissing: Policy | null;
  readonly expiresAt: number;
};

/** A DMARC record; `policy` is null where its policies are invalid and it is ignored (4.10.1). */
export type DmarcRecord = {
  readonly policy: Policy | null;
  readonly subdomainPolicy: Policy | null;
  readonly missingPolicy: Policy | null;
  /** The tag `psd`: whether the name is a public suffix. */
  readonly publicSuffix: "y" | "n" | null;
};

/** A name with this number of labels or more continues with its last seven, which bounds the walk to eight queries. */
const LABELS_MAX = 8;

/**
 * Finds the policy of a domain. Parents are looked up after `before`, through the cache that their children share.
 * The walk ends where the allowance does.
 */
export async function findDmarc(
  cache: DnsCache,
  domain: string,
  shared: SharedAllowance,
  before: Promise<unknown>,
): Promise<DmarcFinding> {
  let expiresAt = Number.POSITIVE_INFINITY;
  const found: { name: string; record: DmarcRecord }[] = [];
  for (const name of namesToLookUp(domain)) {
    if (name !== domain) await before;
    const lookup = await lookUpWithin(cache, `_dmarc.${name}`, "TXT", shared);
    if (lookup.detail === NOT_ALLOWED) break;
    expiresAt = Math.min(expiresAt, lookup.expiresAt);
    if (lookup.outcome === "timeout" || lookup.outcome === "error") return nothing("temperror", expiresAt);
    const record = soleRecord(lookup.records);
    if (record === null) continue;
    if (name === domain) return { ...applied(record, record.policy, record.policy), expiresAt };
    found.push({ name, record });
    if (record.publicSuffix !== null) break;
  }
  const record = selectRecord(domain, found);
  if (record === null) return nothing("none", expiresAt);
  const { policy, subdomainPolicy, missingPolicy } = record;
  const forSubdomain = subdomainPolicy ?? policy;
  return { ...applied(record, forSubdomain, missingPolicy ?? forSubdomain), expiresAt };
}

function nothing(state: "none" | "temperror", expiresAt: number): DmarcFinding {
  return { state, policy: null, policyIfMissing: null, expiresAt };
}

function applied(record: DmarcRecord, policy: Policy | null, policyIfMissing: Policy | null) {
  const state = record.policy === null ? "none" : "found";
  return { state, policy, policyIfMissing } as const;
}

/** Returns the names to look up: the domain, then its parents up to the top-level domain, at most eight. */
export function namesToLookUp(domain: string): string[] {
  const labels = domain.split(".");
  const names = [domain];
  for (let count = Math.min(labels.length, LABELS_MAX) - 1; count >= 1; count--) {
    names.push(labels.slice(-count).join("."));
  }
  return names;
}

/**
 * Selects the record of the organizational domain, else that of the public suffix. `found` is from the longest name
 * to the shortest.
 */
function selectRecord(
  domain: string,
  found: readonly { readonly name: string; readonly record: DmarcRecord }[],
): DmarcRecord | null {
  const last = found.at(-1);
  if (last?.record.publicSuffix !== "y") return last?.record ?? null;
  const organizational = domain
    .split(".")
    .slice(-(last.name.split(".").length + 1))
    .join(".");
  return found.find(({ name }) => name === organizational)?.record ?? last.record;
}

/** Returns the DMARC record among TXT records; several are all discarded. */
function soleRecord(texts: readonly string[]): DmarcRecord | null {
  const records = texts.map(parseDmarc).filter((record) => record !== null);
  return records.length === 1 ? (records[0] ?? null) : null;
}

/** Parses a DMARC record; null for any other text. Unknown tags are ignored; of repeated ones the first counts. */
function parseDmarc(text: string): DmarcRecord | null {
  const [version, ...rest] = text.split(";").map(readTag);
  if (version?.name !== "v" || version.value !== "DMARC1") return null;
  const tags = new Map<string, string>();
  for (const tag of rest) if (tag !== null && !tags.has(tag.name)) tags.set(tag.name, tag.value);
  const psd = tags.get("psd")?.toLowerCase();
  return { ...readPolicies(tags), publicSuffix: psd === "y" || psd === "n" ? psd : null };
}

function readTag(text: string): { name: string; value: string } | null {
  const equals = text.indexOf("=");
  if (equals < 0) return null;
  return { name: text.slice(0, equals).trim().toLowerCase(), value: text.slice(equals + 1).trim() };
}

/**
 * Reads the policies of a record. One without `p` counts as `none` (4.7). One with an invalid policy counts as `none`
 * if it asks for reports, and is ignored otherwise (4.10.1). In test mode (`t=y`) each policy is applied one level below (4.7).
 */
function readPolicies(tags: ReadonlyMap<string, string>): Omit<DmarcRecord, "publicSuffix"> {
  const policy = readPolicy(tags.get("p") ?? "none");
  const subdomainPolicy = readPolicy(tags.get("sp"));
  const missingPolicy = readPolicy(tags.get("np"));
  const faulty =
    policy === null ||
    (tags.has("sp") && subdomainPolicy === null) ||
    (tags.has("np") && missingPolicy === null);
  if (!faulty) {
    const inForce = tags.get("t")?.toLowerCase() === "y" ? oneLevelBelow : (asked: Policy | null) => asked;
    return {
      policy: inForce(policy),
      subdomainPolicy: inForce(subdomainPolicy),
      missingPolicy: inForce(missingPolicy ?? subdomainPolicy),
    };
  }
  const asksForReports = (tags.get("rua") ?? "").split(",").some(isReportAddress);
  return { policy: asksForReports ? "none" : null, subdomainPolicy: null, missingPolicy: null };
}

function oneLevelBelow(policy: Policy | null): Policy | null {
  if (policy === null) return null;
  return policy === "reject" ? "quarantine" : "none";
}

function readPolicy(value: string | undefined): Policy | null {
  const policy = value?.toLowerCase();
  return policy === "none" || policy === "quarantine" || policy === "reject" ? policy : null;
}

function isReportAddress(uri: string): boolean {
  return /^mailto:[^@\s]+@[^@\s]+$/i.test(uri.trim());
}
