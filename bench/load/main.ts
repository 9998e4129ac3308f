import { addressCorpus } from "../input.ts";
import { runSuite } from "../suite.ts";
import { LARGEST, measureBatchSizes, measureCeiling, measureCores } from "./batch-scenarios.ts";
import { measureBystanders } from "./bystander-scenario.ts";
import { leaveFirstCores } from "./cores.ts";
import { startDns } from "./dns.ts";
import { measureSinglesFlatOut } from "./flat-out-scenario.ts";
import { measureJobs } from "./job-scenarios.ts";
import { CORPUS } from "./jobs.ts";
import { measureMemory } from "./memory-scenario.ts";
import { measureColdLookups, measureStart } from "./other-scenarios.ts";
import { measurePlanCosts } from "./plan-scenarios.ts";
import { drive } from "./processes.ts";
import { proveServerRight } from "./proof.ts";
import { type Bench, type Findings, scaled } from "./scenarios.ts";
import { startServerProcess } from "./server-process.ts";
import { measureColdSingles, measureMixed, measureOfferedLoad } from "./single-scenarios.ts";

await runSuite("load", async (options) => {
  const { say, scale, cores } = options;
  if (cores !== null) leaveFirstCores(cores);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  await using server = await startServerProcess({ dns: dns.address, cores });
  await proveServerRight(server);
  say(`the server gives the right answers; DNS by ${dns.software}`);
  const bench: Bench = { options, dns, server, ...scaled(scale) };
  await drive({
    kind: "batches",
    aims: [server],
    size: bench.items(LARGEST),
    parallel: 1,
    rounds: 1,
    roundMs: bench.ms(2000),
    cold: null,
  });

  const step = async (name: string, measure: () => Promise<Findings>) => {
    say(`measuring ${name}`);
    return measure();
  };
  const starts = await step("starts", () => measureStart(bench));
  say("measuring single checks, flat out");
  const flatOut = await measureSinglesFlatOut(bench);
  const found = [
    starts,
    flatOut,
    await step("single checks under offered load", () => measureOfferedLoad(bench, flatOut.perSecond)),
    await step("single checks of new domains", () => measureColdSingles(bench)),
    await step("batches of every size", () => measureBatchSizes(bench)),
    await step("the ceiling of transport and metering", () => measureCeiling(bench)),
    await step("batches by cores", () => measureCores(bench)),
    await step("single checks beside batches", () => measureBystanders(bench)),
    await step("mixed traffic", () => measureMixed(bench, flatOut.perSecond)),
    await step("jobs", () => measureJobs(bench)),
    await step("what plans count with", () => measurePlanCosts(bench)),
    await step("memory", () => measureMemory(bench)),
    await step("cold look-ups", () => measureColdLookups(bench)),
  ];
  return {
    versions: { dns: dns.software },
    figures: found.flatMap(({ figures }) => figures),
    targets: found.flatMap(({ targets }) => targets),
  };
});
