import { expect, test } from "bun:test";
import { attemptsAfter, attemptsAfterFailure, planAttempt } from "../../src/jobs/chunks/attempts.ts";

/** Attempts at a chunk some of whose rows fail every time; returns what became of each row, and the failures. */
function simulate(
  rows: number,
  isPoison: (row: number) => boolean,
  countedAfterFailure = attemptsAfterFailure,
) {
  const outcomes: string[] = [];
  let attempts = 0;
  let failures = 0;
  while (outcomes.length < rows) {
    attempts += 1;
    const plan = planAttempt(attempts, rows);
    const taken = plan.act === "verify" ? plan.rowsMax : 1;
    const next = Array.from(
      { length: Math.min(taken, rows - outcomes.length) },
      (_, at) => at + outcomes.length,
    );
    if (plan.act === "fail") throw new Error("the chunk was given up");
    if (plan.act === "verify" && next.some(isPoison)) {
      failures += 1;
      attempts = countedAfterFailure(attempts);
      continue;
    }
    outcomes.push(...next.map(() => (plan.act === "verify" ? "verified" : "given up")));
    attempts = attemptsAfter(attempts, rows);
  }
  return { outcomes, failures };
}

/** The process is gone: its claim is all that was counted. */
const attemptsAfterEnd = (attempt: number): number => attempt;

test("only rows that fail every time are given up, wherever they are", () => {
  for (const rows of [1, 2, 3, 7, 64, 1_000, 4_000]) {
    for (const poison of [0, 1, 2, Math.floor(rows / 3), rows - 2, rows - 1]) {
      if (poison < 0 || poison >= rows) continue;
      const { outcomes, failures } = simulate(rows, (row) => row === poison);
      expect(outcomes.indexOf("given up")).toBe(poison);
      expect(outcomes.filter((outcome) => outcome === "given up")).toHaveLength(1);
      // Five as a whole, a dozen halvings, and the row itself at most five times.
      expect(failures).toBeLessThanOrEqual(5 + Math.ceil(Math.log2(rows)) + 5);
    }
  }
});

test("several failing rows are found one after the other", () => {
  const poison = new Set([5, 6, 400, 999]);
  const { outcomes } = simulate(1_000, (row) => poison.has(row));
  expect(outcomes.flatMap((outcome, row) => (outcome === "given up" ? [row] : []))).toEqual([...poison]);
});

test("a row that kills the process each time is found, too", () => {
  const { outcomes, failures } = simulate(4_000, (row) => row === 1_234, attemptsAfterEnd);
  expect(outcomes.flatMap((outcome, row) => (outcome === "given up" ? [row] : []))).toEqual([1_234]);
  expect(failures).toBeLessThanOrEqual(22 * 8);
});

test("a hundred kills at the same place give no row up, and the whole chunk is verified", () => {
  let kills = 0;
  const { outcomes } = simulate(
    4_000,
    () => kills < 100,
    (attempt) => {
      kills += 1;
      return attemptsAfterEnd(attempt);
    },
  );
  expect([kills, new Set(outcomes)]).toEqual([100, new Set(["verified"])]);
});

test("a row is given up only after it has failed alone four times", () => {
  // Another row has just been verified by itself.
  let attempt = 17 * 8 + 1;
  const acts = [1, 2, 3, 4, 5].map(() => {
    const { act } = planAttempt(attempt, 4_000);
    attempt = attemptsAfterFailure(attempt) + 1;
    return act;
  });
  expect(acts).toEqual(["verify", "verify", "verify", "verify", "give_up_row"]);
});

test("a chunk whose rows cannot even be given up fails, and the number of attempts is bounded", () => {
  const acts = Array.from({ length: 40 * 8 }, (_, at) => planAttempt(at + 1, 4_000).act);
  expect(acts.indexOf("give_up_row")).toBe(21 * 8);
  expect(acts.indexOf("fail")).toBe(26 * 8);
  expect(acts.slice(26 * 8).every((act) => act === "fail")).toBe(true);
});
