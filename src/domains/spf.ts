/**
 * Evaluation of a domain's SPF record (RFC 7208) without a sender: no mechanism before `all` is taken to match, so
 * that all look-ups a receiver may need are counted.
 */
import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { RecordType } from "../dns/lookup.ts";
import type { MailPolicy } from "../verification/email/domain-facts.ts";
import { lookUpWithin, type SharedAllowance } from "./allowed-lookup.ts";
import {
  expandMacros,
  isDenyAll,
  isSpf,
  type SpfMechanism,
  type SpfQualifier,
  type SpfRecord,
} from "./spf-record.ts";
import type { SpfRecords } from "./spf-records.ts";

export type SpfFinding = { readonly finding: MailPolicy["spf"]; readonly expiresAt: number };

/** Terms that need the DNS, in all records together (4.6.4). */
const LOOKUPS_MAX = 10;
/** Void look-ups among these: without records (4.6.4). */
const VOIDS_MAX = 2;
const MX_NAMES_MAX = 10;

type Failure = "permerror" | "temperror";
type Outcome =
  | { readonly state: "found"; readonly all: SpfQualifier | null; readonly text: string }
  | { readonly state: "none" | Failure };

/** One evaluation. The limits apply to all its records together. */
type Evaluation = {
  readonly cache: DnsCache;
  readonly records: SpfRecords;
  readonly shared: SharedAllowance;
  /** The domain whose record is evaluated, before any include. */
  readonly sender: string;
  lookups: number;
  voids: number;
  /** Names without an IPv4 address. Whether they are void depends on AAAA, which is looked up only where it decides. */
  readonly doubtful: string[];
  expiresAt: number;
};

/**
 * Evaluates a domain's record, one look-up after the other, within the limits. Never rejects. The outcome is
 * `temperror` where the allowance ends.
 */
export async function evaluateSpf(
  sources: Pick<Evaluation, "cache" | "records">,
  domain: string,
  shared: SharedAllowance,
): Promise<SpfFinding> {
  const evaluation: Evaluation = {
    ...sources,
    shared,
    sender: domain,
    lookups: 0,
    voids: 0,
    doubtful: [],
    expiresAt: Number.POSITIVE_INFINITY,
  };
  const outcome = await evaluateDomain(evaluation, domain);
  const found = outcome.state === "found";
  return {
    finding: {
      state: outcome.state,
      all: found ? outcome.all : null,
      sendsNoMail: found && isDenyAll(outcome.text),
    },
    expiresAt: evaluation.expiresAt,
  };
}

async function evaluateDomain(evaluation: Evaluation, domain: string): Promise<Outcome> {
  const lookup = await lookUp(evaluation, domain, "TXT");
  if (isTransient(lookup)) return { state: "temperror" };
  const texts = lookup.records.filter(isSpf);
  const [text] = texts;
  if (text === undefined) return { state: "none" };
  const record = texts.length === 1 ? evaluation.records.parse(text) : null;
  if (record === null) return { state: "permerror" };
  return evaluateRecord(evaluation, domain, record, text);
}

async function evaluateRecord(
  evaluation: Evaluation,
  domain: string,
  record: SpfRecord,
  text: string,
): Promise<Outcome> {
  for (const mechanism of record.mechanisms) {
    if (mechanism.kind === "all") return { state: "found", all: mechanism.qualifier, text };
    const failure = await evaluateMechanism(evaluation, domain, mechanism);
    if (failure !== null) return { state: failure };
  }
  if (record.redirect === null) return { state: "found", all: null, text };
  return evaluateRedirect(evaluation, domain, record.redirect, text);
}

async function evaluateRedirect(
  evaluation: Evaluation,
  domain: string,
  redirect: string,
  text: string,
): Promise<Outcome> {
  if (!countLookup(evaluation)) return { state: "permerror" };
  const target = expandMacros(redirect, domain, evaluation.sender);
  if (target === null) return { state: "found", all: null, text };
  const outcome = await evaluateDomain(evaluation, target);
  if (outcome.state === "found") return { ...outcome, text };
  return { state: outcome.state === "none" ? "permerror" : outcome.state };
}

/** Counts the look-ups of a mechanism, and follows an include; null without a failure. */
async function evaluateMechanism(
  evaluation: Evaluation,
  domain: string,
  mechanism: SpfMechanism,
): Promise<Failure | null> {
  if (!("domain" in mechanism)) return null;
  if (!countLookup(evaluation)) return "permerror";
  const target = expandMacros(mechanism.domain ?? domain, domain, evaluation.sender);
  if (target === null || mechanism.kind === "ptr") return null;
  switch (mechanism.kind) {
    case "include":
      return evaluateInclude(evaluation, target);
    case "mx":
      return checkMx(evaluation, await lookUp(evaluation, target, "MX"));
    case "a":
    case "exists":
      return checkAddress(evaluation, target, mechanism.kind);
  }
}

async function evaluateInclude(evaluation: Evaluation, target: string): Promise<Failure | null> {
  const { state } = await evaluateDomain(evaluation, target);
  if (state === "found") return null;
  return state === "none" ? "permerror" : state;
}

async function checkMx(evaluation: Evaluation, lookup: CachedLookup<"MX">): Promise<Failure | null> {
  if (isTransient(lookup)) return "temperror";
  if (lookup.records.length > MX_NAMES_MAX) return "permerror";
  countVoid(evaluation, lookup);
  return settleVoids(evaluation);
}

/**
 * Checks the address of a mechanism. `a` is void only where neither A nor AAAA exists, as the sender may use either;
 * `exists` looks up A alone.
 */
async function checkAddress(
  evaluation: Evaluation,
  target: string,
  kind: "a" | "exists",
): Promise<Failure | null> {
  const a = await lookUp(evaluation, target, "A");
  if (isTransient(a)) return "temperror";
  if (kind === "a" && a.outcome === "nodata") evaluation.doubtful.push(target);
  else countVoid(evaluation, a);
  return settleVoids(evaluation);
}

/** Looks up AAAA of doubtful names, while these could exceed the limit of voids. */
async function settleVoids(evaluation: Evaluation): Promise<Failure | null> {
  const { doubtful } = evaluation;
  while (evaluation.voids <= VOIDS_MAX && evaluation.voids + doubtful.length > VOIDS_MAX) {
    const aaaa = await lookUp(evaluation, doubtful.shift() ?? "", "AAAA");
    if (isTransient(aaaa)) return "temperror";
    countVoid(evaluation, aaaa);
  }
  return evaluation.voids <= VOIDS_MAX ? null : "permerror";
}

async function lookUp<T extends RecordType>(
  evaluation: Evaluation,
  name: string,
  type: T,
): Promise<CachedLookup<T>> {
  const lookup = await lookUpWithin(evaluation.cache, name.toLowerCase(), type, evaluation.shared);
  evaluation.expiresAt = Math.min(evaluation.expiresAt, lookup.expiresAt);
  return lookup;
}

function countLookup(evaluation: Evaluation): boolean {
  evaluation.lookups++;
  return evaluation.lookups <= LOOKUPS_MAX;
}

function countVoid(evaluation: Evaluation, lookup: CachedLookup<RecordType>): void {
  if (lookup.outcome !== "answer") evaluation.voids++;
}

/** Returns whether a look-up failed for the moment. An invalid name did not: it is void for every sender (4.8). */
function isTransient({ outcome, detail }: CachedLookup<RecordType>): boolean {
  return outcome === "timeout" || (outcome === "error" && detail !== "unusable_name");
}
