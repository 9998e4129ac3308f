import type { Finding } from "./reasons.ts";
import { gibberishFinding, gibberishPoints, type Verdict, verdictOf } from "./verdict.ts";
import type { VerificationFrame } from "./verification-frame.ts";

/** A verdict on some local parts of one domain. */
export type LocalVerdict = Verdict & {
  /** What the JSON of their verifications has in common, once somebody has worked it out. */
  frame: VerificationFrame | null;
};

/** The verdicts on the local parts of a domain: each is worked out once, and there are fewer than 80 of them. */
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
  return { ...verdictOf(all, gibberishScore), frame: null };
}
