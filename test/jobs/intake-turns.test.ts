import { expect, test } from "bun:test";
import type { IntakeOptions, IntakeReply } from "../../src/jobs/intake/intake-messages.ts";
import { createIntakeWorker } from "../../src/jobs/intake/intake-worker.ts";
import { createFairTurns } from "../../src/platform/fair-turns.ts";
import { handClock } from "../billing/accounting.ts";

const OPTIONS: Omit<IntakeOptions, "tenant"> = {
  ...{ form: "text", kind: "email", rowsMax: 1_000_000, bytesMax: 1_000_000_000 },
  ...{ column: null, delimiter: null, encoding: null, spillPath: "", seeds: [1, 2] },
};
/** What a piece is read at: no more are gathered. */
const PIECE_BYTES = 65_536;

/** Reads inputs whose next piece comes as soon as it is asked for; returns the inputs in the order in which they asked. */
async function askedInOrder(inputs: ReadonlyMap<number, string>, watched: number, pieces: number) {
  const asked: number[] = [];
  const isOver = Promise.withResolvers<void>();
  const isReleased = Promise.withResolvers<void>();
  const line = new TextEncoder().encode(`${"a".repeat(1_023)}\n`);
  const send = (reply: IntakeReply) => {
    const { input } = reply;
    if ("failed" in reply) isOver.reject(new Error(reply.failed));
    if (!("wants" in reply)) return;
    asked.push(input);
    if (asked.filter((one) => one === watched).length > pieces) isOver.resolve();
    const piece = new Uint8Array(PIECE_BYTES);
    for (let at = 0; at < PIECE_BYTES; at += line.byteLength) piece.set(line, at);
    setImmediate(() => worker.receive({ input, piece }));
  };
  const turns = createFairTurns(handClock().monotonic);
  const worker = createIntakeWorker(turns, send, isReleased.resolve);
  for (const [input, tenant] of inputs) worker.receive({ input, begin: { ...OPTIONS, tenant } });
  await isOver.promise;
  const seen = [...asked];
  for (const input of inputs.keys()) worker.receive({ input, abort: true });
  await isReleased.promise;
  return seen;
}

test("accounts take turns with their inputs: one waits for one piece of each other account, however many it sends", async () => {
  const many = 24;
  const inputs = new Map(Array.from({ length: many }, (_, at) => [at, "acc_many"]));
  inputs.set(many, "acc_one");
  const asked = await askedInOrder(inputs, many, 10);
  // All have asked for their first piece at once.
  const later = asked.slice(many + 1);
  const others = later.filter((input) => input !== many);
  expect(later.length - others.length).toBe(10);
  expect(others.length).toBeLessThanOrEqual(20);
  // The inputs of the account take turns, too.
  expect(new Set(others).size).toBe(others.length);
});
