import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Finding, REASONS } from "../../../src/contract/email-reasons.ts";
import { EMAIL_SUB_STATUSES, SYNTAX_FAULTS } from "../../../src/contract/words.ts";
import { SCORE_BANDS, SCORING } from "../../../src/verification/email/scoring.ts";
import { gibberishFinding, verdictOf } from "../../../src/verification/email/verdict.ts";
import verdictsText from "../../vectors/email/verdicts.txt" with { type: "text" };
import { factsFrom, verifiedBy } from "./facts.ts";
import { rowsOf } from "./vectors.ts";

const rows = rowsOf(verdictsText);

describe("the verdict", () => {
  for (const [address = "", known = "", status, subStatus, score = "", reasons = ""] of rows) {
    test(`on ${address} with ${known} is ${status}, ${subStatus}`, () => {
      const result = verifiedBy(address, (domain) => factsFrom(domain, known));
      const [least = 0, most = least] = score.split("-").map(Number);
      expect(result).toMatchObject({ status, sub_status: subStatus });
      expect(result.score).toBeGreaterThanOrEqual(least);
      expect(result.score).toBeLessThanOrEqual(most);
      expect(result.reasons.filter((reason) => reasons.split(" ").includes(reason))).toEqual(
        reasons.split(" "),
      );
    });
  }

  test("has a vector for every sub-status that facts about a domain can give", () => {
    const shown = new Set(rows.map((row) => row[3]));
    const byText = new Set(["invalid_syntax", "invalid_tld", "reserved_domain", "check_failed"]);
    expect(EMAIL_SUB_STATUSES.filter((name) => !shown.has(name) && !byText.has(name))).toEqual([]);
  });
});

const findings = SCORING.map((row) => row.finding);
const bad = findings.filter((finding) => finding !== "dmarc_reject");
const graded = fc.double({ min: 0, max: 1, noNaN: true });

describe("any set of findings", () => {
  test("is scored within the band of its status", () => {
    fc.assert(
      fc.property(fc.subarray(findings), graded, (some, gibberish) => {
        const { status, score } = verdictOf(withGibberish(some, gibberish), gibberish);
        const [least, most] = SCORE_BANDS[status];
        expect(score).toBeGreaterThanOrEqual(least);
        expect(score).toBeLessThanOrEqual(most);
        expect(Number.isInteger(score)).toBe(true);
      }),
    );
  });

  test("is never scored higher for one more bad finding", () => {
    fc.assert(
      fc.property(fc.subarray(findings), fc.constantFrom(...bad), graded, (some, more, gibberish) => {
        const before = withGibberish(some, gibberish);
        const after = withGibberish([...some, more], gibberish);
        expect(verdictOf(after, gibberish).score).toBeLessThanOrEqual(verdictOf(before, gibberish).score);
      }),
      { numRuns: 5_000 },
    );
  });

  test("is never scored higher for a local part that looks more random", () => {
    fc.assert(
      fc.property(fc.subarray(findings), graded, graded, (some, a, b) => {
        const [less, more] = a < b ? [a, b] : [b, a];
        const score = (value: number) => verdictOf(withGibberish(some, value), value).score;
        expect(score(more)).toBeLessThanOrEqual(score(less));
      }),
    );
  });

  test("has every finding among its reasons; undeliverable, its sub-status first", () => {
    fc.assert(
      fc.property(fc.subarray(findings), graded, (some, gibberish) => {
        const all = withGibberish(some, gibberish);
        const { status, sub_status, reasons } = verdictOf(all, gibberish);
        if (status !== "deliverable") expect(reasons.some((reason) => reason === sub_status)).toBe(true);
        if (status !== "undeliverable") expect(new Set(reasons)).toEqual(new Set(all));
        else expect(String(reasons[0])).toBe(sub_status);
      }),
    );
  });
});

/** Returns the findings with that of the gibberish score, which determines it. */
function withGibberish(some: readonly Finding[], gibberish: number): ReadonlySet<Finding> {
  const rest = some.filter((finding) => finding !== "gibberish" && finding !== "gibberish_suspected");
  const finding = gibberishFinding(gibberish);
  return new Set(finding === null ? rest : [...rest, finding]);
}

test("every reason is explained in a sentence, and nothing else is", () => {
  const known = new Set<string>([...SYNTAX_FAULTS, ...findings, "check_failed"]);
  expect(new Set(Object.keys(REASONS))).toEqual(known);
  for (const meaning of Object.values(REASONS)) expect(meaning).toMatch(/^[A-Z].*\.$/);
});
