import type { Finding } from "../../contract/email-reasons.ts";
import { gibberishPoints } from "./scoring.ts";
import { gibberishFinding, type Verdict, verdictOf } from "./verdict.ts";
import type { VerificationFrame } from "./verification-frame.ts";

/** A verdict on some local parts of domains that have their verdicts in common. */
export type LocalVerdict = Verdict & {
  /** What the JSON of their verifications has in common; null where none is to be kept. */
  frame: VerificationFrame | "not_made_yet" | null;
};

/** Verdicts on gibberish that are kept at a time; past this they are forgotten. All that there are would be many. */
const ON_GIBBERISH_MAX = 16;

/** The verdicts on the local parts of a domain, which are worked out when they are needed. */
export type LocalVerdicts = {
  /** About the domain. */
  readonly findings: readonly Finding[];
  // Most local parts are no gibberish: theirs are at hand.
  onPerson: LocalVerdict | null;
  onRole: LocalVerdict | null;
  onGibberish: Map<number, LocalVerdict> | null;
};

const SHARED_MAX = 1_024;
/** Longer lists of findings and hosts are not shared, as few domains have them in common. */
const SHARED_KEY_CHARACTERS_MAX = 1_024;
const shared = new Map<string, LocalVerdicts>();

/**
 * The same for all domains of which the same is found and whose mail goes to the same hosts (null: they have no MX), as
 * that of many goes to a few large ones: what their addresses have in common is then at hand in the cache of a core.
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

/** Returns the verdict on a local part of the domain, made once and kept. */
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
