import { evaluateGibberish } from "./gibberish.ts";
import { evaluateLists } from "./lists.ts";
import { evaluateSpeed } from "./speed.ts";
import { evaluateTypos } from "./typos.ts";

/** Prints the figures of every held-out evaluation; exits with 1 where a target is missed. */
const evaluations = [
  await evaluateTypos(),
  await evaluateLists(),
  await evaluateGibberish(),
  await evaluateSpeed(),
];
for (const { lines } of evaluations) process.stdout.write(`${lines.join("\n")}\n\n`);
const ok = evaluations.every((evaluation) => evaluation.ok);
process.stdout.write(ok ? "every target is met\n" : "a target is missed\n");
if (!ok) process.exitCode = 1;
