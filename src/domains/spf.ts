/**
 * What a domain's SPF record says (RFC 7208), without a sender at hand: every mechanism before `all` is taken
 * not to match, so all that a receiver may have to look up is counted.
 */
import type { CachedLookup, DnsCache } from "../dns/cache.ts";
import type { RecordType } from "../dns/lookup.ts";
import type { MailPolicy } from "../verification/email/domain-facts.ts";
import { lookUpWithin, type SharedAllowance } from "./allowed-lookup.ts";
import {
  expandMacros,
  isEmptyHanded,
  isSpf,
  type SpfMechanism,
  type SpfQualifier,
  type SpfRecord,
} from "./spf-record.ts";
import type { SpfRecords } from "./spf-records.ts";

export type SpfFinding = { readonly finding: MailPolicy["spf"]; readonly expiresAt: number };

/** Terms that need the DNS, in all records together (4.6.4). */
const LOOKUPS_MAX = 10;
/** Of these, those that find nothing. */
const VOIDS_MAX = 2;
const MX_NAMES_MAX = 10;

type Failure = "permerror" | "temperror";
type Outcome =
  | { readonly state: "found"; readonly all: SpfQualifier | null; readonly text: string }
  | { readonly state: "none" | Failure };

/** One evaluation: the limits hold for all the records that it comes through. */
type Evaluation = {
  readonly cache: DnsCache;
  readonly records: SpfRecords;
  readonly shared: SharedAllowance;
  /** The domain whose record is evaluated, before any include. */
  readonly sender: string;
  lookups: number;
  voids: number;
  /** Names without an IPv4 address that may have another: void or not, as long as it makes no difference. */
  readonly doubtful: string[];
  expiresAt: number;
};

/**
 * Evaluates a domain's record, one look-up after the other, and none past the limits. Never rejects. Where the
 * allowance ends the outcome is `temperror`.
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
      sendsNoMail: found && isEmptyHanded(outcome.text),
    },
    expiresAt: evaluation.expiresAt,
  };
}

async function evaluateDomain(evaluation: Evaluation, domain: string): Promise<Outcome> {
  const lookup = await ask(evaluation, domain, "TXT");
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

/** Counts what a mechanism looks up, and follows an include; null where nothing is wrong. */
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
      return checkMx(evaluation, await ask(evaluation, target, "MX"));
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

/** `a` is void only without an address of either family, since the sender's may be either; `exists` asks for A. */
async function checkAddress(
  evaluation: Evaluation,
  target: string,
  kind: "a" | "exists",
): Promise<Failure | null> {
  const a = await ask(evaluation, target, "A");
  if (isTransient(a)) return "temperror";
  if (kind === "a" && a.outcome === "nodata") evaluation.doubtful.push(target);
  else countVoid(evaluation, a);
  return settleVoids(evaluation);
}

/** Asks for the other addresses of doubtful names, as long as these could be the voids that are too many. */
async function settleVoids(evaluation: Evaluation): Promise<Failure | null> {
  const { doubtful } = evaluation;
  while (evaluation.voids <= VOIDS_MAX && evaluation.voids + doubtful.length > VOIDS_MAX) {
    const aaaa = await ask(evaluation, doubtful.shift() ?? "", "AAAA");
    if (isTransient(aaaa)) return "temperror";
    countVoid(evaluation, aaaa);
  }
  return evaluation.voids <= VOIDS_MAX ? null : "permerror";
}

async function ask<T extends RecordType>(
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

/** A name that cannot be asked for is no passing failure: it finds nothing for every sender (4.8). */
function isTransient({ outcome, detail }: CachedLookup<RecordType>): boolean {
  return outcome === "timeout" || (outcome === "error" && detail !== "unusable_name");
}
