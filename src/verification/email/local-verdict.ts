import type { Finding } from "../../contract/email-reasons.ts";
import { gibberishPoints } from "./scoring.ts";
import { gibberishFinding, type Verdict, verdictOf } from "./verdict.ts";
import type { VerificationFrame } from "./verification-frame.ts";

/** The verdict on one kind of local part, which all domains with the same findings share. */
export type LocalVerdict = Verdict & {
  /** The constant parts of the JSON of its verifications; null where they are not kept. */
  frame: VerificationFrame | "not_made_yet" | null;
};

/** Cached verdicts on gibberish, which depend on the score; past this the cache is cleared. */
const ON_GIBBERISH_MAX = 16;

/** The verdicts on the local parts of a domain, each computed on first use. */
export type LocalVerdicts = {
  /** About the domain. */
  readonly findings: readonly Finding[];
  // Most local parts are not gibberish: their verdicts need no look-up in a map.
  onPerson: LocalVerdict | null;
  onRole: LocalVerdict | null;
  onGibberish: Map<number, LocalVerdict> | null;
};

const SHARED_MAX = 1_024;
/** Longer lists of findings and hosts are not shared, as few domains have them in common. */
const SHARED_KEY_CHARACTERS_MAX = 1_024;
const shared = new Map<string, LocalVerdicts>();

/**
 * Returns the verdicts for a domain's findings and mail hosts (null without MX). Domains with equal ones share them:
 * the mail of many goes to a few large hosts, and what is shared stays in the CPU cache.
 */
export function verdictsOf(findings: readonly Finding[], mxHosts: readonly string[] | null): LocalVerdicts {
  const key = JSON.stringify([findings, mxHosts]);
  const known = shared.get(key);
  if (known !== undefined) return known;
  const verdicts = { findings, onPerson: null, onRole: null, onGibberish: null };
  if (key.length > SHARED_KEY_CHARACTERS_MAX) return verdicts;
  if (shared.size >= SHARED_MAX) shared.clear();
  shared.set(key, verdicts);
  return verdicts;
}

/** Returns the verdict on a local part of the domain, from the cache or computed. */
export function verdictOn(verdicts: LocalVerdicts, isRole: boolean, gibberishScore: number): LocalVerdict {
  const finding = gibberishFinding(gibberishScore);
  if (finding !== null) return onGibberish(verdicts, isRole, finding, gibberishScore);
  if (isRole) {
    verdicts.onRole ??= verdictWith(verdicts, isRole, null, gibberishScore);
    return verdicts.onRole;
  }
  verdicts.onPerson ??= verdictWith(verdicts, isRole, null, gibberishScore);
  return verdicts.onPerson;
}

function onGibberish(
  verdicts: LocalVerdicts,
  isRole: boolean,
  finding: Finding,
  gibberishScore: number,
): LocalVerdict {
  verdicts.onGibberish ??= new Map();
  const key = gibberishPoints(gibberishScore) * 4 + (finding === "gibberish" ? 2 : 0) + (isRole ? 1 : 0);
  const known = verdicts.onGibberish.get(key);
  if (known !== undefined) return known;
  const verdict = verdictWith(verdicts, isRole, finding, gibberishScore);
  if (verdicts.onGibberish.size >= ON_GIBBERISH_MAX) verdicts.onGibberish.clear();
  verdicts.onGibberish.set(key, verdict);
  return verdict;
}

function verdictWith(
  { findings }: LocalVerdicts,
  isRole: boolean,
  finding: Finding | null,
  gibberishScore: number,
): LocalVerdict {
  const all = new Set(findings);
  if (isRole) all.add("role_account");
  if (finding !== null) all.add(finding);
  return { ...verdictOf(all, gibberishScore), frame: finding === null ? "not_made_yet" : null };
}
