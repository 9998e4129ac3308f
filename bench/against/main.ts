import { resolve } from "node:path";
import { addressCorpus } from "../input.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import { scaled } from "../load/scenarios.ts";
import { startServerProcess } from "../load/server-process.ts";
import { runSuite } from "../suite.ts";
import { compare } from "./comparison.ts";
import { type Checkout, memoryOf, startsOf, subjects } from "./subjects.ts";

// This checkout beside another one, all figures by turns: `bun run bench:against FOLDER [--quick] [--json FILE]`.

const ROOT = resolve(import.meta.dir, "../..");

await runSuite("against", async ({ words, say, scale, quick }) => {
  const [folder] = words;
  if (folder === undefined) throw new Error("Name the folder of another checkout, its packages installed.");
  const times = scaled(scale);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  const checkouts: readonly Checkout[] = [
    { root: ROOT, dns: dns.address },
    { root: resolve(folder), dns: dns.address },
  ];
  await using stack = new AsyncDisposableStack();
  const servers = [];
  for (const checkout of checkouts) {
    const server = stack.use(await startServerProcess(checkout));
    await proveServerRight(server);
    servers.push(server);
  }
  const found = [];
  for (const subject of await subjects(times)) {
    say(`measuring ${subject.name}`);
    found.push(await compare(subject, servers, times.rounds(subject.rounds)));
  }
  await stack.disposeAsync();
  for (const subject of quick ? [startsOf()] : [startsOf(), memoryOf()]) {
    say(`measuring ${subject.name}`);
    found.push(await compare(subject, checkouts, times.rounds(subject.rounds)));
  }
  return {
    versions: { dns: dns.software },
    figures: found.flatMap(({ figures }) => figures),
    targets: found.flatMap(({ targets }) => targets),
  };
});
