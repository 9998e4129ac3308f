import type { CheckView, ScanView } from "./report.ts";

const MARKS = {
  pass: "ok     ",
  warn: "warn   ",
  fail: "FAIL   ",
  na: "n/a    ",
  blocked: "blocked",
} as const;

/** Renders a scan for a terminal: the grade, what to fix first, and a line for each check. */
export function scanText({ origin, grade, score, confidence, checks, caps }: ScanView): string {
  const lines = [
    `${origin}  grade ${grade}, ${score} of 100${confidence === "low" ? ", low confidence" : ""}`,
    "",
  ];
  for (const { status, id, evidence } of checks) {
    lines.push(`${MARKS[status]}  ${id.padEnd(16)} ${evidence.observed}`);
  }
  for (const { check, grade: cap } of caps) lines.push("", `${check} failed: no grade above ${cap}.`);
  const open = [...checks].filter(({ status }) => status === "fail" || status === "warn").sort(byLoss);
  if (open.length > 0) lines.push("", "Fix first:");
  for (const { id, fix, repeat } of open.slice(0, 5)) lines.push(`- ${id}: ${fix}`, `  ${repeat}`);
  return `${lines.join("\n")}\n`;
}

function byLoss(first: CheckView, second: CheckView): number {
  return lossOf(second) - lossOf(first);
}

function lossOf({ status, weight }: CheckView): number {
  return status === "fail" ? weight : weight / 2;
}
