import type { Steps } from "../platform/steps.ts";
import { readAhead } from "./challenge.ts";
import type { Check, CheckStatus, Finding } from "./check.ts";
import { CHECKS } from "./check-list.ts";
import type { Evidence } from "./evidence.ts";

export type Grade = "A" | "B" | "C" | "D" | "F";

/** A check with its finding. */
export type CheckedRule = { readonly check: Check; readonly finding: Finding };

/** A failed check caps the grade, whatever the score. */
export type Cap = { readonly check: string; readonly grade: Grade };

export type Scored = {
  readonly checks: readonly CheckedRule[];
  /** An integer of 0 to 100. */
  readonly score: number;
  readonly grade: Grade;
  readonly caps: readonly Cap[];
  /** `low` where the target blocked checks. */
  readonly confidence: "normal" | "low";
};

/** The version of checks, weights, caps and grades: any change needs a new one. */
export const RULES_VERSION = "2026-11-2";

const CREDIT: { readonly [status in CheckStatus]: number } = {
  pass: 1,
  warn: 0.5,
  fail: 0,
  na: 0,
  blocked: 0,
};
const GRADES: readonly { readonly grade: Grade; readonly from: number }[] = [
  { grade: "A", from: 90 },
  { grade: "B", from: 80 },
  { grade: "C", from: 70 },
  { grade: "D", from: 55 },
  { grade: "F", from: 0 },
];
const CAPS: { readonly [check: string]: Grade } = {
  "reach.dns": "F",
  "reach.tls": "F",
  "pay.402": "F",
  "pay.parse": "D",
  "pay.schema": "D",
  "pay.payee": "D",
  "pay.price": "D",
  "pay.first": "C",
  "pay.wildcard": "C",
};
const BLOCKS: ReadonlySet<number> = new Set([403, 429]);
/** Gates without which nothing can be checked. */
const REACH_GATES = ["reach.dns", "reach.tls"];
/** The gate of all `pay.` checks, and of `OF_CHALLENGES`. */
const PAY_GATE = "pay.402";
const OF_CHALLENGES: ReadonlySet<string> = new Set(["disc.bazaar", "http.cors"]);

/** Returns checks, score and grade of a scan. Pure, so that anyone can recompute them from the evidence. */
export function scoreEvidence(evidence: Evidence): Scored {
  const isBlocked = isBlockedByTarget(evidence);
  return scoreOf(
    CHECKS.map((check) => ({ check, finding: findingOf(check, evidence, isBlocked) })),
    isBlocked,
  );
}

/** Scores a scan in steps, one for each check. */
export async function scoreInSteps(evidence: Evidence, step: Steps): Promise<Scored> {
  const isBlocked = isBlockedByTarget(evidence);
  for (const exchange of evidence.exchanges) await step(() => readAhead(exchange));
  const checks: CheckedRule[] = [];
  for (const check of CHECKS) {
    checks.push({ check, finding: await step(() => findingOf(check, evidence, isBlocked)) });
  }
  return scoreOf(checks, isBlocked);
}

function scoreOf(found: readonly CheckedRule[], isBlocked: boolean): Scored {
  const checks = blockedByGates(found);
  const counted = checks.filter(({ finding }) => finding.status !== "na");
  const weight = counted.reduce((sum, { check }) => sum + check.weight, 0);
  const credit = counted.reduce((sum, { check, finding }) => sum + check.weight * CREDIT[finding.status], 0);
  const score = weight === 0 ? 0 : Math.round((credit / weight) * 100);
  const caps = checks.flatMap(({ check, finding }): Cap[] => {
    const grade = CAPS[check.id];
    const isCapped = finding.status === "fail" && finding.isUncapped !== true;
    return grade !== undefined && isCapped ? [{ check: check.id, grade }] : [];
  });
  // The last letter is the worst.
  const grade = [gradeOf(score), ...caps.map((cap) => cap.grade)].sort().at(-1) ?? "F";
  return { checks, score, grade, caps, confidence: isBlocked ? "low" : "normal" };
}

/** A check that a failed gate blocks scores 0: omitting it would raise the score of the worst targets. */
function blockedByGates(checks: readonly CheckedRule[]): readonly CheckedRule[] {
  const failed = checks.filter(({ finding }) => finding.status === "fail").map(({ check }) => check.id);
  const reach = REACH_GATES.find((gate) => failed.includes(gate));
  return checks.map((checked) => {
    const { id } = checked.check;
    const isOfChallenges = id.startsWith("pay.") || OF_CHALLENGES.has(id);
    const gate = reach ?? (isOfChallenges && failed.includes(PAY_GATE) ? PAY_GATE : undefined);
    if (checked.finding.status !== "na" || gate === undefined || id.startsWith("reach.")) return checked;
    const observed = `${checked.finding.observed}, as ${gate} failed`;
    return { ...checked, finding: { ...checked.finding, status: "blocked", observed } };
  });
}

function findingOf(check: Check, evidence: Evidence, isBlocked: boolean): Finding {
  const finding = check.find(evidence);
  if (!isBlocked || check.id.startsWith("reach.") || finding.status === "pass") return finding;
  return { ...finding, status: "blocked", observed: "the target refuses our calls (403 or 429)" };
}

function gradeOf(score: number): Grade {
  return GRADES.find(({ from }) => score >= from)?.grade ?? "F";
}

/** Whether every reply refuses the caller, which says nothing about the service. */
function isBlockedByTarget({ exchanges }: Evidence): boolean {
  const replies = exchanges.filter(({ status, role }) => status !== null && role !== "plain_http");
  return replies.length > 0 && replies.every(({ status }) => BLOCKS.has(status ?? 0));
}
