import packageFile from "../package.json" with { type: "json" };
import { createChargeSubjects } from "./charges.ts";
import { proveRight, timeSubjects } from "./micro.ts";
import { measurePipeline } from "./pipeline.ts";
import { judgeTarget } from "./result.ts";
import { createSubjects } from "./subjects.ts";
import { runSuite } from "./suite.ts";

await runSuite("bench", async ({ scale, say }) => {
  await using functions = await createSubjects();
  await using charges = createChargeSubjects();
  const { metered, singleRows } = charges;
  const subjects = [...functions.subjects, metered, singleRows];
  await proveRight(subjects);
  say(`${subjects.length} functions give the right answers; timing them`);
  const figures = await timeSubjects(subjects, scale);
  say("timing the pipeline");
  const pipeline = await measurePipeline(scale);
  const rate = (name: string) => figures.find((figure) => figure.name === name)?.value ?? Number.NaN;
  const { elysia, piscina } = packageFile.dependencies;
  return {
    versions: { elysia, piscina, tinybench: packageFile.devDependencies.tinybench },
    figures: [...figures, ...pipeline],
    targets: [
      judgeTarget({
        what: "charges a second, durable, through the meter",
        against: "single-row transactions with synchronous=FULL",
        bound: { atLeast: 10 },
        measured: rate(metered.name) / rate(singleRows.name),
        note: `${Math.round(rate(metered.name)).toLocaleString("en")} against ${Math.round(rate(singleRows.name)).toLocaleString("en")} a second`,
      }),
    ],
  };
});
