import { parseArgs } from "node:util";
import { comparePhones, describeAgreement } from "./phone-agreement.ts";

/** `bun bench/eval/phones.ts --count 10000000 --seed 1`: exits with 1 where plans and library differ. */
const { values } = parseArgs({
  options: { count: { type: "string", default: "10000000" }, seed: { type: "string", default: "1" } },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  throw new Error("--count and --seed are whole numbers, --count at least 1");
}
const startedMs = performance.now();
const agreement = comparePhones({ seed, count });
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
process.stdout.write(`${describeAgreement(agreement).join("\n")}\nseed ${seed}, ${seconds} s\n`);
if (agreement.differences.length > 0) process.exitCode = 1;
