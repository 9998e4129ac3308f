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
  /** The policy if the domain turns out not to exist. */
  readonly policyIfMissing: Policy | null;
  readonly expiresAt: number;
};

/** A record that holds a policy, or `policy: null` for one that is there and asks for nothing that can be done. */
export type DmarcRecord = {
  readonly policy: Policy | null;
  readonly subdomainPolicy: Policy | null;
  readonly missingPolicy: Policy | null;
  /** Whether the name is a public suffix: `y`, `n`, or not said. */
  readonly publicSuffix: "y" | "n" | null;
};

/** From a name of this number of labels on, the walk goes on with the last seven, which bounds it to eight queries. */
const LABELS_MAX = 8;

/**
 * Finds the policy that applies to a domain. Parents are asked for after `before`, through the cache, which their
 * children share; where the allowance ends, the walk does.
 */
export async function findDmarc(
  cache: DnsCache,
  domain: string,
  shared: SharedAllowance,
  before: Promise<unknown>,
): Promise<DmarcFinding> {
  let expiresAt = Number.POSITIVE_INFINITY;
  const found: { name: string; record: DmarcRecord }[] = [];
  for (const name of namesToAsk(domain)) {
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

/** The domain itself, then its parents down to the last label: eight names at most. */
export function namesToAsk(domain: string): string[] {
  const labels = domain.split(".");
  const names = [domain];
  for (let count = Math.min(labels.length, LABELS_MAX) - 1; count >= 1; count--) {
    names.push(labels.slice(-count).join("."));
  }
  return names;
}

/** The record of the organizational domain, else that of the public suffix; `found` goes from the longest name up. */
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

/** The one DMARC record among TXT records; several are all discarded. */
function soleRecord(texts: readonly string[]): DmarcRecord | null {
  const records = texts.map(parseDmarc).filter((record) => record !== null);
  return records.length === 1 ? (records[0] ?? null) : null;
}

/** Reads a DMARC record; null for any other text. Unknown tags are ignored, of repeated ones the first counts. */
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
 * A record without `p` counts as `none` (4.7); one whose policies cannot be read does so if it asks for reports,
 * and else counts for nothing (4.10.1). While a record is being tested (`t=y`) its policies are not to be applied.
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
    const inForce = tags.get("t")?.toLowerCase() === "y" ? untilTested : (asked: Policy | null) => asked;
    return {
      policy: inForce(policy),
      subdomainPolicy: inForce(subdomainPolicy),
      missingPolicy: inForce(missingPolicy ?? subdomainPolicy),
    };
  }
  const asksForReports = (tags.get("rua") ?? "").split(",").some(isReportAddress);
  return { policy: asksForReports ? "none" : null, subdomainPolicy: null, missingPolicy: null };
}

function untilTested(policy: Policy | null): Policy | null {
  return policy === null ? null : "none";
}

function readPolicy(value: string | undefined): Policy | null {
  const policy = value?.toLowerCase();
  return policy === "none" || policy === "quarantine" || policy === "reject" ? policy : null;
}

function isReportAddress(uri: string): boolean {
  return /^mailto:[^@\s]+@[^@\s]+$/i.test(uri.trim());
}
