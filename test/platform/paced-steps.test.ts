import { expect, test } from "bun:test";
import { createPacedSteps } from "../../src/platform/paced-steps.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Returns how many of some steps are taken in each turn, where what each resolves takes `msOf` it. */
async function stepsByTurn(steps: number, msOf: (step: number) => number): Promise<number[]> {
  let nowMs = 0;
  let taken = 0;
  const paced = createPacedSteps({
    step() {
      const ms = msOf(taken);
      taken += 1;
      void Promise.resolve().then(() => {
        nowMs += ms;
      });
    },
    left: () => steps - taken,
    monotonic: () => nowMs,
    stepsATurn: 32,
    workMsATurn: 2,
  });
  paced.wake();
  const byTurn: number[] = [];
  for (let before = 0; before < steps; before = taken) {
    await nextTurn();
    if (taken > before) byTurn.push(taken - before);
  }
  return byTurn;
}

test("quick steps are taken 32 in a turn", async () => {
  expect(await stepsByTurn(100, () => 0.01)).toEqual([32, 32, 32, 4]);
});

test("slow steps end their turn one by one, after quick ones too", async () => {
  expect(await stepsByTurn(4, () => 3)).toEqual([1, 1, 1, 1]);
  const byTurn = await stepsByTurn(80, (step) => (step < 64 ? 0.01 : 50));
  expect(byTurn.slice(0, 2)).toEqual([32, 32]);
  expect(Math.max(...byTurn.slice(2))).toBe(1);
});
