import { expect } from "bun:test";
import type { IdentityResult } from "../../src/verification/documents/outcome.ts";

/** A difference from a library that is known, and why it is the library that errs or knows less. */
export type KnownDisagreement = {
  readonly why: string;
  readonly covers: (value: string, ours: IdentityResult) => boolean;
};

/**
 * Holds our verdicts against a library's. Every difference must be a known one, and every known one must show,
 * so that the list cannot outlive its reasons.
 */
export function expectAgreement(
  values: readonly string[],
  ours: (value: string) => IdentityResult,
  theirs: (value: string) => boolean,
  known: readonly KnownDisagreement[],
): void {
  const shown = new Set<string>();
  const unexplained: string[] = [];
  for (const value of values) {
    const result = ours(value);
    if (result.valid === theirs(value)) continue;
    const disagreement = known.find(({ covers }) => covers(value, result));
    if (disagreement === undefined) unexplained.push(`${value} (ours: ${result.reason ?? "valid"})`);
    else shown.add(disagreement.why);
  }
  expect(unexplained).toEqual([]);
  expect(known.map(({ why }) => why).filter((why) => !shown.has(why))).toEqual([]);
}
