import { resolve } from "node:path";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import { scaled } from "../load/scenarios.ts";
import { startServerProcess } from "../load/server-process.ts";
import { runSuite } from "../suite.ts";
import { addRounds, findingsOf, nothingFound } from "./comparison.ts";
import { type Checkout, memoryOf, startsOf, subjects } from "./subjects.ts";

// This checkout beside another one, all figures by turns: `bun run bench:against FOLDER [--quick] [--json FILE]`.

/** Pairs of servers: what the compiler makes of the same code differs by up to a tenth from process to process. */
const SETUPS = 3;
const ROOT = resolve(import.meta.dir, "../..");

await runSuite("against", async ({ words, say, scale, quick }) => {
  const [folder] = words;
  if (folder === undefined) throw new Error("Name the folder of another checkout, its packages installed.");
  const times = scaled(scale);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  const checkouts: readonly [Checkout, Checkout] = [
    { root: ROOT, dns: dns.address },
    { root: resolve(folder), dns: dns.address },
  ];
  const asked = (await subjects(times)).map((subject) => ({ subject, found: nothingFound() }));
  for (let setup = 0; setup < (quick ? 1 : SETUPS); setup += 1) {
    await using here = await startServerProcess(checkouts[0]);
    await using there = await startServerProcess(checkouts[1]);
    await Promise.all([proveServerRight(here), proveServerRight(there)]);
    for (const { subject, found } of asked) {
      say(`measuring ${subject.name}`);
      await addRounds(found, subject, [here, there], times.rounds(subject.rounds));
    }
  }
  const begun = (quick ? [startsOf()] : [startsOf(), memoryOf()]).map((subject) => ({
    subject,
    found: nothingFound(),
  }));
  for (const { subject, found } of begun) {
    say(`measuring ${subject.name}`);
    await addRounds(found, subject, checkouts, times.rounds(subject.rounds));
  }
  const found = [...asked, ...begun].map(({ subject, found }) => findingsOf(subject, found));
  return {
    versions: { dns: dns.software },
    figures: found.flatMap(({ figures }) => figures),
    targets: found.flatMap(({ targets }) => targets),
  };
});
