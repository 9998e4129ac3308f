import type { Finding } from "./reasons.ts";
import { gibberishFinding, gibberishPoints, type Verdict, verdictOf } from "./verdict.ts";
import type { VerificationFrame } from "./verification-frame.ts";

/** A verdict on some local parts of one domain. */
export type LocalVerdict = Verdict & {
  /** What the JSON of their verifications has in common; null where none is to be kept. */
  frame: VerificationFrame | "not_made_yet" | null;
};

/** Verdicts on gibberish that a domain keeps; past this it forgets them. One with all that there are would be large. */
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

export function createLocalVerdicts(findings: readonly Finding[]): LocalVerdicts {
  return { findings, onPerson: null, onRole: null, onGibberish: null };
}

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
