import { expect, test } from "bun:test";
import { createDnsCache } from "../../src/dns/cache.ts";
import { createDenialWatch } from "../../src/domains/denial-watch.ts";
import { createDomainFacts } from "../../src/domains/facts.ts";
import { factsIn } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startDns } from "../support/dns-server.ts";

const HONEST = "good.com MX 10 mx.good.com\nmx.good.com A 8.8.8.8\ndead-host.com MX 10 gone.good.com";
const DENYING = `$NOPROVIDERS\n${HONEST}`;

async function startWatch(zone: string) {
  const dns = await startDns(zone, { attemptTimeoutsMs: [2000] });
  const reports: string[] = [];
  const watch = createDenialWatch({
    resolver: dns.resolver,
    report: (level, sentence) => reports.push(`${level}: ${sentence}`),
  });
  const { epoch } = watch;
  const cache = createDnsCache({ resolver: watch.resolver, clock: systemClock, epoch });
  const lists = { listsOf: () => ({ disposable: null, freeProvider: false }) };
  const facts = createDomainFacts({ cache, lists, clock: systemClock, epoch });
  const stateOf = async (domain: string): Promise<string> => {
    const { mail } = factsIn(await facts.findDomain(domain, { dns: true, deep: false }));
    return mail.state === "mx" ? mail.targets : mail.state;
  };
  const statesOf = async (): Promise<string[]> => [
    await stateOf("good.com"),
    await stateOf("missing.com"),
    await stateOf("dead-host.com"),
  ];
  const close = async () => {
    await watch[Symbol.asyncDispose]();
    await dns[Symbol.asyncDispose]();
  };
  return { server: dns.server, watch, facts, stateOf, statesOf, reports, [Symbol.asyncDispose]: close };
}

const DENIAL =
  "The DNS denies that gmail.com exists: nothing that it denies is believed until it finds it. Check DNS_SERVERS.";

test("no denial is trusted of a DNS that denies the largest provider, from the first look-up on", async () => {
  await using setting = await startWatch(DENYING);
  setting.watch.start();
  expect(await setting.statesOf()).toEqual(["public", "error", "unknown"]);
  expect(setting.watch.trouble()).toBe(DENIAL);
});

test("denials from before the detection are dropped, and so are the distrusted ones after the recovery", async () => {
  await using setting = await startWatch(HONEST);
  await setting.watch.probe();
  expect(await setting.statesOf()).toEqual(["public", "no_domain", "dead"]);
  setting.server.setZone(DENYING);
  // The lie is not noticed yet, and what is cached stands.
  expect(await setting.statesOf()).toEqual(["public", "no_domain", "dead"]);
  await setting.watch.probe();
  expect(setting.facts.knownDomain("missing.com", { dns: true, deep: false })).toBeUndefined();
  expect(await setting.statesOf()).toEqual(["public", "error", "unknown"]);
  await setting.watch.probe();
  setting.server.setZone(HONEST);
  await setting.watch.probe();
  expect(setting.watch.trouble()).toBeNull();
  setting.server.resetCounts();
  expect((await setting.statesOf())[0]).toBe("public");
  // An answer is kept through all of it.
  expect(setting.server.queryCount("good.com", "MX")).toBe(0);
  expect(setting.reports).toEqual([`warn: ${DENIAL}`, `warn: ${DENIAL}`, "info: The DNS answers again."]);
});

test("a silent DNS is reported each time, and neither begins nor ends the distrust", async () => {
  await using setting = await startWatch(HONEST);
  setting.server.setFault("!silent");
  await setting.watch.probe();
  expect(setting.reports).toEqual(["warn: The DNS does not answer. Check DNS_SERVERS and the network."]);
  setting.server.setFault(null);
  setting.server.setZone(DENYING);
  await setting.watch.probe();
  setting.server.setFault("!servfail");
  await setting.watch.probe();
  expect(setting.watch.trouble()).toBe(DENIAL);
});

test("no denial is trusted of a DNS that has not yet answered for a large provider", async () => {
  const silence = ["gmail.com", "hotmail.com", "yahoo.com", "outlook.com"].map((name) => `${name} !silent`);
  await using setting = await startWatch([DENYING, ...silence].join("\n"));
  setting.watch.start();
  expect(await setting.statesOf()).toEqual(["public", "error", "unknown"]);
  setting.server.setZone(HONEST);
  await setting.watch.probe();
  // What was not believed is asked again some seconds later.
  expect(await setting.stateOf("missing-then.com")).toBe("no_domain");
  // What has answered before is believed where it is silent for a while.
  setting.server.setZone([DENYING, ...silence].join("\n"));
  await setting.watch.probe();
  expect(await setting.stateOf("missing-too.com")).toBe("no_domain");
});

test("the next provider decides where the DNS does not answer for the largest", async () => {
  await using failing = await startWatch(`${HONEST}\ngmail.com !servfail`);
  await failing.watch.probe();
  expect(failing.watch.trouble()).toBeNull();
  await using denying = await startWatch(`${DENYING}\ngmail.com !servfail`);
  await denying.watch.probe();
  expect(denying.watch.trouble()).toStartWith("The DNS denies that hotmail.com exists:");
});
