import { Resolver } from "node:dns/promises";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createStubResolver } from "../../src/dns/resolver.ts";
import { parseServerAddress } from "../../src/dns/server-address.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { coldDomain } from "../input.ts";
import type { ColdLookups, ColdLookupsJob } from "./cold-lookups-job.ts";

// Looks up names that no cache knows, by turns through resolver and cache and through Bun's c-ares, in a process of
// its own. Its argument is the job; it writes what it found.

const job: ColdLookupsJob = JSON.parse(process.argv[2] ?? "");
process.stdout.write(JSON.stringify(await measure(job)));

async function measure({ server, names, rounds, cAresInFlight }: ColdLookupsJob): Promise<ColdLookups> {
  const ours: ColdLookups["ours"] = [];
  const cAres: ColdLookups["cAres"] = [];
  let turn = 0;
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timed(names, `o${turn++}`, (batch) => throughCache(server, batch)));
    for (const inFlight of cAresInFlight) {
      const found = await timed(names, `c${turn++}`, (batch) => throughCAres(server, batch, inFlight));
      cAres.push({ inFlight, ...found });
    }
  }
  return { ours, cAres };
}

async function timed(names: number, run: string, lookUp: (names: readonly string[]) => Promise<number>) {
  const batch = Array.from({ length: names }, (_, n) => coldDomain(run, n));
  const startedMs = performance.now();
  const answered = await lookUp(batch);
  const seconds = (performance.now() - startedMs) / 1000;
  return { perSecond: answered / seconds, lost: names - answered };
}

async function throughCache(server: string, names: readonly string[]): Promise<number> {
  const address = parseServerAddress(server);
  if (address === null) throw new Error(`${server} is no address`);
  const resolver = createStubResolver({ servers: [address], clock: systemClock });
  const cache = createDnsCache({ resolver, clock: systemClock });
  const lookups = await Promise.all(names.map((name) => cache.lookUp(name, "MX")));
  resolver.close();
  return lookups.filter(({ records }) => records.length === 2).length;
}

async function throughCAres(server: string, names: readonly string[], inFlight: number): Promise<number> {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  resolver.setServers([server]);
  let answered = 0;
  let next = 0;
  const lookUpInTurn = async () => {
    for (let name = names[next++]; name !== undefined; name = names[next++]) {
      const records = await resolver.resolveMx(name).catch(() => []);
      if (records.length === 2) answered += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lookUpInTurn));
  return answered;
}
