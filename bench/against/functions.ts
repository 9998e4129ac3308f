import { proveRight, timeSubjects } from "../micro.ts";
import type { FiguresAsked, FunctionsMessage } from "./function-process.ts";

// A process with the functions that `bench` measures, of the checkout that its argument names. It measures what it is asked.

const [root = ""] = process.argv.slice(2);
const { createSubjects }: typeof import("../subjects.ts") = await import(`${root}/bench/subjects.ts`);
const { createChargeSubjects }: typeof import("../charges.ts") = await import(`${root}/bench/charges.ts`);
const { measurePipeline }: typeof import("../pipeline.ts") = await import(`${root}/bench/pipeline.ts`);
const functions = await createSubjects();
const charges = createChargeSubjects();
const subjects = [...functions.subjects, charges.metered];
await proveRight(subjects);

process.on("message", async ({ name, scale }: FiguresAsked) => {
  const asked = subjects.filter((subject) => subject.name === name);
  send({ figures: await (name === null ? measurePipeline(scale) : timeSubjects(asked, scale)) });
});
process.once("disconnect", async () => {
  await functions[Symbol.asyncDispose]();
  await charges[Symbol.asyncDispose]();
  process.exit();
});
send({ names: subjects.map(({ name }) => name) });

function send(message: FunctionsMessage): void {
  process.send?.(message);
}
