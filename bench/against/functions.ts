import { pathToFileURL } from "node:url";
import { proveRight } from "../micro.ts";
import type { Subject } from "../subject.ts";
import type { FunctionsMessage, RatesAsked } from "./function-process.ts";

// A process with the functions and pipelines that `bench` measures, of the checkout that its first argument names, with the
// test vectors of the folder that the second one names, whose rounds are as long as the third says. It measures what it is asked.

/** Of one round: a neighbour on the machine makes it half as fast for a tenth of a second or more, which is to hit both alike. */
const ROUND_MS = 10;
/** That are timed together: some functions have few cases, and the clock takes its time, too. */
const CALLS_MIN = 2000;

const [root = "", vectors = "", length = "1"] = process.argv.slice(2);
const scale = Number(length);
const { createSubjects }: typeof import("../subjects.ts") = await import(`${root}/bench/subjects.ts`);
const { createChargeSubjects }: typeof import("../charges.ts") = await import(`${root}/bench/charges.ts`);
const { openPipelines, nameOf }: typeof import("../pipeline.ts") = await import(`${root}/bench/pipeline.ts`);
const functions = await createSubjects(pathToFileURL(`${vectors}/`));
const charges = createChargeSubjects();
const pipelines = await openPipelines(scale);
const subjects = [...functions.subjects, charges.metered, ...pipelineSubjects()];
await proveRight(subjects);

process.on("message", async ({ name }: RatesAsked) => {
  const rates: { [name: string]: number } = {};
  for (const subject of subjects.filter((each) => each.name === name)) {
    rates[subject.name] = await quickestRate(subject, ROUND_MS * scale);
  }
  send({ rates });
});
process.once("disconnect", async () => {
  await functions[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
  await pipelines[Symbol.asyncDispose]();
  process.exit();
});
send({ names: subjects.map(({ name }) => name) });

/** Each setup with its pool open, so that one batch of it can be timed after another. */
function pipelineSubjects(): Subject[] {
  const { addresses, setups, runOnce } = pipelines;
  return setups.map((setup) => ({
    group: "pipeline",
    name: nameOf(setup),
    calls: addresses,
    async fault() {
      const results = await runOnce(setup);
      return results === addresses ? null : `${results} results, not ${addresses}`;
    },
    turn: () => runOnce(setup),
  }));
}

/** Calls a second in the quickest turns of a round: neighbours on the machine can only slow them down. */
async function quickestRate({ turn, calls }: Subject, roundMs: number): Promise<number> {
  const turns = Math.ceil(CALLS_MIN / calls);
  let quickestMs = Number.POSITIVE_INFINITY;
  const untilMs = performance.now() + roundMs;
  do {
    const startedMs = performance.now();
    for (let made = 0; made < turns; made += 1) await turn();
    quickestMs = Math.min(quickestMs, performance.now() - startedMs);
  } while (performance.now() < untilMs);
  return ((calls * turns) / quickestMs) * 1000;
}

function send(message: FunctionsMessage): void {
  process.send?.(message);
}
