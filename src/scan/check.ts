import type { Evidence, Exchange } from "./evidence.ts";

/** The outcome of a check. `na`: it does not apply. `blocked`: a failed gate, or the target, prevents it. */
export type CheckStatus = "pass" | "warn" | "fail" | "na" | "blocked";

export type Finding = {
  readonly status: CheckStatus;
  /** The exchange that shows it, or null. */
  readonly at: Exchange | null;
  readonly observed: string;
  /** A failure that does not cap the grade, unlike others of its check. */
  readonly isUncapped?: true;
};

/** One of the 25 rules. `find` is pure: a finding depends on the evidence alone. */
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

/** Returns the worst finding, the first of equal ones; null without any. */
export function worst(findings: readonly Finding[]): Finding | null {
  const by = (status: CheckStatus) => findings.find((finding) => finding.status === status);
  return by("fail") ?? by("warn") ?? findings[0] ?? null;
}

export function notApplicable(observed: string): Finding {
  return { status: "na", at: null, observed };
}
