import type { Evidence, Exchange } from "./evidence.ts";

/** What a check says. `na`: it does not apply. `blocked`: a gate that failed, or the target, keeps us from looking. */
export type CheckStatus = "pass" | "warn" | "fail" | "na" | "blocked";

export type Finding = {
  readonly status: CheckStatus;
  /** The exchange that shows it, where one does. */
  readonly at: Exchange | null;
  readonly observed: string;
  /** A failure that sets no limit to the grade, unlike others of its check. */
  readonly isUncapped?: true;
};

/** One of the 25 rules. `find` is pure: the same evidence gives the same finding, in any process and at any time. */
export type Check = {
  readonly id: string;
  readonly title: string;
  readonly weight: number;
  readonly expected: string;
  readonly fix: string;
  readonly find: (evidence: Evidence) => Finding;
};

export function pass(at: Exchange | null, observed: string): Finding {
  return { status: "pass", at, observed };
}

export function warn(at: Exchange | null, observed: string): Finding {
  return { status: "warn", at, observed };
}

export function fail(at: Exchange | null, observed: string): Finding {
  return { status: "fail", at, observed };
}

/** Returns the worst of some findings, the first of several that are as bad; null without any. */
export function worst(findings: readonly Finding[]): Finding | null {
  const by = (status: CheckStatus) => findings.find((finding) => finding.status === status);
  return by("fail") ?? by("warn") ?? findings[0] ?? null;
}

export function notApplicable(observed: string): Finding {
  return { status: "na", at: null, observed };
}
