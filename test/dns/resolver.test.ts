import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createStubResolver } from "../../src/dns/resolver.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { serverAddress, startDns } from "../support/dns-server.ts";

const ZONE = `
one.com MX 10 mx.one.com
one.com MX 20 MX2.One.Com.
mx.one.com A 8.8.8.8
six.com AAAA 2a00:1450:4001::1
text.com TXT "v=spf1 " "-all"
text.com TXT "second" " record"
octets.com TXT "plain"
alias.com CNAME one.com
short.com 5 A 8.8.8.8
short.com.alias 2 CNAME mx.one.com
bare.com TXT "x"
soa.com 7200 SOA ns.soa.com host.soa.com 1 2 3 4 900
www.soa.com TXT "x"
`;

/** What else the machine does can only lengthen a wait, so that one good try of four shows it. */
const RETRIED = { retry: 3 };

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = await startFixtureServer({ zone: "" });
  await server.close();
  return server.port;
}

describe("a look-up", () => {
  test("returns the records in lower case without last dots, with the TTL", async () => {
    await using dns = await startDns(ZONE);
    expect(await dns.resolver.lookUp("ONE.com.", "MX")).toEqual({
      outcome: "answer",
      records: [
        { preference: 10, exchange: "mx.one.com" },
        { preference: 20, exchange: "mx2.one.com" },
      ],
      ttlSeconds: 300,
      alias: false,
      detail: null,
    });
    expect((await dns.resolver.lookUp("six.com", "AAAA")).records).toEqual(["2a00:1450:4001::1"]);
  });

  test("joins the strings of one TXT record without a space and keeps records apart", async () => {
    await using dns = await startDns(ZONE);
    expect((await dns.resolver.lookUp("text.com", "TXT")).records).toEqual(["v=spf1 -all", "second record"]);
  });

  test("distinguishes a name without such records from a name that does not exist", async () => {
    await using dns = await startDns(ZONE);
    expect((await dns.resolver.lookUp("bare.com", "MX")).outcome).toBe("nodata");
    expect((await dns.resolver.lookUp("missing.com", "MX")).outcome).toBe("nxdomain");
  });

  test("gives a denial the lesser of its SOA's TTL and MINIMUM", async () => {
    await using dns = await startDns(ZONE);
    expect((await dns.resolver.lookUp("www.soa.com", "MX")).ttlSeconds).toBe(900);
    expect((await dns.resolver.lookUp("gone.soa.com", "MX")).ttlSeconds).toBe(900);
  });

  test("follows aliases and takes the smallest TTL on the way", async () => {
    await using dns = await startDns(ZONE);
    const lookup = await dns.resolver.lookUp("short.com.alias", "A");
    expect(lookup).toMatchObject({ outcome: "answer", records: ["8.8.8.8"], alias: true, ttlSeconds: 2 });
  });

  test("queries a target that the reply names without its records", async () => {
    await using dns = await startDns("half.com CNAME one.com\nhalf.com !no-soa\none.com TXT x");
    const lookup = await dns.resolver.lookUp("half.com", "MX");
    expect(lookup).toMatchObject({ outcome: "nodata", alias: true });
    expect(dns.server.queryCount("one.com", "MX")).toBe(1);
  });

  test("of a name that cannot be encoded is an error, and sends no query", async () => {
    await using dns = await startDns(ZONE);
    const names = ["", ".", "a..com", `${"a".repeat(64)}.com`, `${"a.".repeat(127)}com`, "a b.com", "ü.com"];
    for (const name of names) {
      expect(await dns.resolver.lookUp(name, "A")).toMatchObject({
        outcome: "error",
        detail: "unusable_name",
      });
    }
    expect(dns.server.queryCount()).toBe(0);
  });
});

describe("a reply", () => {
  // The system drops what comes from elsewhere before it is counted.
  for (const [fault, ignored] of [
    ["garbage", 3],
    ["wrong-id", 1],
    ["wrong-question", 1],
    ["wrong-source", 0],
  ] as const) {
    test(`with ${fault} is ignored and the true one taken`, async () => {
      await using dns = await startDns(`one.com A 8.8.8.8\none.com !${fault}`);
      expect((await dns.resolver.lookUp("one.com", "A")).records).toEqual(["8.8.8.8"]);
      expect(dns.resolver.stats().ignored).toBe(ignored);
    });

    test(`with ${fault} alone leaves the question open`, async () => {
      await using dns = await startDns(`one.com A 8.8.8.8\none.com !${fault}\none.com !silent`, {
        attemptTimeoutsMs: [60],
      });
      expect((await dns.resolver.lookUp("one.com", "A")).outcome).toBe("timeout");
    });
  }

  test("that is truncated is queried again by TCP", async () => {
    const records = Array.from({ length: 100 }, (_, at) => `many.com TXT "${at} ${"x".repeat(60)}"`);
    await using dns = await startDns(records.join("\n"), { attemptTimeoutsMs: [20_000] });
    const lookup = await dns.resolver.lookUp("many.com", "TXT");
    expect(lookup.records).toHaveLength(100);
    expect(dns.resolver.stats().tcpQueries).toBe(1);
  });

  test("by TCP is queued until it is read, as those by UDP are", async () => {
    await using dns = await startDns("cut.com A 8.8.8.8\ncut.com !truncate", { attemptTimeoutsMs: [20_000] });
    let unreadMax = 0;
    let isSettled = false;
    const lookup = dns.resolver.lookUp("cut.com", "A").finally(() => {
      isSettled = true;
    });
    while (!isSettled) {
      await nextTurn();
      // The reply by UDP has been read when the question goes out by TCP.
      if (dns.resolver.stats().tcpQueries === 1) unreadMax = Math.max(unreadMax, dns.resolver.unread());
    }
    expect((await lookup).records).toEqual(["8.8.8.8"]);
    expect(unreadMax).toBe(1);
  });

  test("with garbage takes no room in the queue of replies", async () => {
    await using dns = await startDns("one.com A 8.8.8.8\none.com !garbage", { attemptTimeoutsMs: [20_000] });
    let unreadMax = 0;
    for (let round = 0; round < 20; round++) {
      let isSettled = false;
      const lookup = dns.resolver.lookUp("one.com", "A").finally(() => {
        isSettled = true;
      });
      while (!isSettled) {
        await nextTurn();
        unreadMax = Math.max(unreadMax, dns.resolver.unread());
      }
      expect((await lookup).records).toEqual(["8.8.8.8"]);
    }
    expect(unreadMax).toBe(1);
  });

  test("of FORMERR to EDNS is queried again without it", async () => {
    await using dns = await startDns("one.com A 8.8.8.8\none.com !formerr-edns");
    expect((await dns.resolver.lookUp("one.com", "A")).records).toEqual(["8.8.8.8"]);
    expect(dns.server.queryCount("one.com")).toBe(2);
  });

  test(
    "that comes after the next attempt has gone out still counts",
    async () => {
      await using dns = await startDns("late.com A 8.8.8.8\nlate.com !delay 500", {
        attemptTimeoutsMs: [400, 5000],
      });
      const started = performance.now();
      expect((await dns.resolver.lookUp("late.com", "A")).records).toEqual(["8.8.8.8"]);
      // The next attempt is answered at 900 ms.
      expect(performance.now() - started).toBeLessThan(850);
    },
    RETRIED,
  );
});

describe("a failure", () => {
  test.each(["servfail", "refused", "formerr", "notimp"])(
    "by %s is retried once and is an error",
    async (rcode) => {
      await using dns = await startDns(`bad.com !${rcode}`);
      expect(await dns.resolver.lookUp("bad.com", "A")).toMatchObject({ outcome: "error", detail: rcode });
      expect(dns.server.queryCount("bad.com")).toBeGreaterThanOrEqual(2);
      expect(dns.server.queryCount("bad.com")).toBeLessThanOrEqual(4);
    },
  );

  test("of one datagram is recovered by the next attempt", async () => {
    await using dns = await startDns("lossy.com A 8.8.8.8\nlossy.com !drop 2", {
      attemptTimeoutsMs: [40, 40, 1000],
    });
    expect((await dns.resolver.lookUp("lossy.com", "A")).records).toEqual(["8.8.8.8"]);
  });

  test("by silence is a timeout after all attempts", async () => {
    await using dns = await startDns("silent.com !silent", { attemptTimeoutsMs: [40, 80, 160] });
    const started = performance.now();
    expect((await dns.resolver.lookUp("silent.com", "A")).outcome).toBe("timeout");
    expect(performance.now() - started).toBeGreaterThan(270);
    expect(dns.server.queryCount("silent.com")).toBe(3);
  });

  test("never takes longer than the deadline of a look-up", async () => {
    await using dns = await startDns("silent.com !silent", {
      attemptTimeoutsMs: [5000, 5000],
      lookupTimeoutMs: 120,
    });
    const started = performance.now();
    expect((await dns.resolver.lookUp("silent.com", "A")).outcome).toBe("timeout");
    expect(performance.now() - started).toBeLessThan(4000);
  });

  test("to reach a sole server ends with the last attempt, as no reply can follow", async () => {
    const resolver = createStubResolver({
      servers: [serverAddress(`127.0.0.1:${await closedPort()}`)],
      clock: systemClock,
      attemptTimeoutsMs: [30, 30],
    });
    const started = performance.now();
    expect(await resolver.lookUp("one.com", "MX")).toMatchObject({ outcome: "error", detail: "unreachable" });
    expect(performance.now() - started).toBeLessThan(1000);
    resolver.close();
  });

  test("of a TCP connection is an error, not a truncated answer", async () => {
    await using dns = await startDns("cut.com A 8.8.8.8\ncut.com !truncate\ncut.com !tcp-close");
    expect(await dns.resolver.lookUp("cut.com", "A")).toMatchObject({
      outcome: "error",
      detail: "tcp_failed",
    });
  });
});

describe("several servers", () => {
  test(
    "are tried one after the other, and an unreachable one costs no time",
    async () => {
      await using dns = await startDns(ZONE, {
        servers: [],
      });
      expect(await dns.resolver.lookUp("one.com", "MX")).toMatchObject({
        outcome: "error",
        detail: "no_servers",
      });

      const resolver = createStubResolver({
        servers: [serverAddress(`127.0.0.1:${await closedPort()}`), serverAddress(dns.server.address)],
        clock: systemClock,
      });
      const started = performance.now();
      expect((await resolver.lookUp("one.com", "MX")).outcome).toBe("answer");
      expect(performance.now() - started).toBeLessThan(300);
      expect(resolver.stats().servers.map(({ failing }) => failing)).toEqual([true, false]);
      resolver.close();
    },
    RETRIED,
  );

  test("are tried a second time after SERVFAIL", async () => {
    await using first = await startFixtureServer({ zone: "one.com !servfail" });
    await using second = await startFixtureServer({ zone: ZONE });
    const servers = [serverAddress(first.address), serverAddress(second.address)];
    const resolver = createStubResolver({ servers, clock: systemClock });
    expect((await resolver.lookUp("one.com", "MX")).outcome).toBe("answer");
    resolver.close();
  });

  test("are tried with a silent one last for a while; then one look-up tries that one again", async () => {
    await using first = await startFixtureServer({ zone: ZONE });
    await using second = await startFixtureServer({ zone: ZONE });
    first.setFault("!silent");
    let passedMs = 0;
    const resolver = createStubResolver({
      servers: [serverAddress(first.address), serverAddress(second.address)],
      clock: { now: systemClock.now, monotonic: () => systemClock.monotonic() + passedMs },
      attemptTimeoutsMs: [40, 400],
      serverPenaltyMs: 10_000,
    });
    const ask = async (name: string) =>
      expect((await resolver.lookUp(name, "A")).outcome).not.toBe("timeout");
    await ask("a.com");
    await ask("b.com");
    const before = first.queryCount();
    for (const name of ["c.com", "d.com", "e.com"]) await ask(name);
    expect(first.queryCount()).toBe(before);
    first.setFault(null);
    passedMs = 10_001;
    await ask("f.com");
    expect(first.queryCount()).toBe(before + 1);
    expect(resolver.stats().servers.some(({ failing }) => failing)).toBe(false);
    resolver.close();
  });

  test("may listen on IPv6", async () => {
    await using server = await startFixtureServer({ zone: ZONE, hostname: "::1" });
    const resolver = createStubResolver({ servers: [serverAddress(server.address)], clock: systemClock });
    expect((await resolver.lookUp("one.com", "MX")).outcome).toBe("answer");
    resolver.close();
  });

  test("may restart: a sole server that is down for a moment answers the same look-up", async () => {
    const port = await closedPort();
    const resolver = createStubResolver({
      servers: [serverAddress(`127.0.0.1:${port}`)],
      clock: systemClock,
    });
    const lookup = resolver.lookUp("one.com", "MX");
    while (!resolver.stats().servers[0]?.failing) await new Promise(setImmediate);
    await using _server = await startFixtureServer({ zone: ZONE, port });
    expect((await lookup).outcome).toBe("answer");
    resolver.close();
  });
});

describe("many look-ups", () => {
  test("stay within the bound in flight, are queued beyond it, and all end", async () => {
    await using dns = await startDns("*.com MX 10 mx.one.com", { inFlightMax: 20 });
    let highest = 0;
    const lookups = Array.from({ length: 3000 }, async (_, at) => {
      const lookup = await dns.resolver.lookUp(`d${at}.com`, "MX");
      highest = Math.max(highest, dns.resolver.stats().inFlight);
      return lookup.outcome;
    });
    expect(dns.resolver.stats()).toMatchObject({ inFlight: 20, waiting: 2980 });
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(["answer"]));
    expect(highest).toBeLessThanOrEqual(20);
    expect(dns.resolver.stats()).toMatchObject({ inFlight: 0, waiting: 0, lookups: 3000 });
  });

  test("all end at the full bound", async () => {
    await using dns = await startDns("*.com MX 10 mx.one.com");
    const lookups = Array.from({ length: 10_000 }, (_, at) => dns.resolver.lookUp(`d${at}.com`, "MX"));
    const outcomes = (await Promise.all(lookups)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome !== "answer")).toEqual([]);
  });

  test("do not wait for silent ones for longer than a first attempt", async () => {
    await using dns = await startDns("*.silent.com !silent\none.com A 8.8.8.8", {
      inFlightMax: 5,
      attemptTimeoutsMs: [50, 3000],
    });
    for (let at = 0; at < 20; at++) void dns.resolver.lookUp(`d${at}.silent.com`, "A");
    const started = performance.now();
    expect((await dns.resolver.lookUp("one.com", "A")).outcome).toBe("answer");
    expect(performance.now() - started).toBeLessThan(1000);
    // The last five give up their places one after the other: it took the first that came free.
    expect(dns.resolver.stats().late).toBeGreaterThan(15);
  });

  test("that are answered all at once leave turns of the event loop to other work", async () => {
    const asked: (() => void)[] = [];
    const server = await Bun.udpSocket({
      hostname: "127.0.0.1",
      socket: {
        data(socket, question, port, address) {
          const denial = Buffer.from(question);
          denial.writeUInt16BE(0x8183, 2);
          asked.push(() => socket.send(denial, port, address));
          if (asked.length === 200) for (const answer of asked) answer();
        },
      },
    });
    const servers = [serverAddress(`127.0.0.1:${server.port}`)];
    const resolver = createStubResolver({ servers, clock: systemClock });
    let answeredNow = 0;
    const answeredByTurn: number[] = [];
    let turn = setImmediate(function next() {
      if (answeredNow > 0) answeredByTurn.push(answeredNow);
      answeredNow = 0;
      turn = setImmediate(next);
    });
    const lookups = Array.from({ length: 200 }, async (_, at) => {
      const { outcome } = await resolver.lookUp(`d${at}.com`, "A");
      answeredNow += 1;
      return outcome;
    });
    expect(new Set(await Promise.all(lookups))).toEqual(new Set(["nxdomain"]));
    clearImmediate(turn);
    expect(Math.max(answeredNow, ...answeredByTurn)).toBeLessThanOrEqual(64);
    resolver.close();
    server.close();
  });

  test("beyond the queue are errors with a detail of their own", async () => {
    await using dns = await startDns("*.com !silent", {
      inFlightMax: 2,
      waitingMax: 3,
      attemptTimeoutsMs: [50],
    });
    const lookups = Array.from({ length: 8 }, (_, at) => dns.resolver.lookUp(`d${at}.com`, "MX"));
    const details = (await Promise.all(lookups)).map(({ detail }) => detail);
    expect(details.filter((detail) => detail === "queue_full")).toHaveLength(3);
  });

  test("end as errors when the resolver closes, and so do later ones", async () => {
    await using dns = await startDns("*.com !silent", { inFlightMax: 2 });
    const lookups = Array.from({ length: 5 }, (_, at) => dns.resolver.lookUp(`d${at}.com`, "MX"));
    dns.resolver.close();
    for (const lookup of await Promise.all(lookups)) expect(lookup.detail).toBe("closed");
    expect((await dns.resolver.lookUp("late.com", "A")).detail).toBe("closed");
  });

  test("are sent from several source ports, with ids from the random source", async () => {
    const ports = new Set<number>();
    const ids: number[] = [];
    const server = await Bun.udpSocket({
      hostname: "127.0.0.1",
      socket: {
        data: (_socket, message, port) => {
          ports.add(port);
          ids.push(message.readUInt16BE(0));
        },
      },
    });
    let next = 40_000;
    const resolver = createStubResolver({
      servers: [serverAddress(`127.0.0.1:${server.port}`)],
      clock: systemClock,
      attemptTimeoutsMs: [80],
      lookupTimeoutMs: 80,
      random16: () => next++,
    });
    await Promise.all(Array.from({ length: 40 }, (_, at) => resolver.lookUp(`d${at}.com`, "A")));
    expect(ports.size).toBeGreaterThan(1);
    expect([...ids].sort()).toEqual(Array.from({ length: 40 }, (_, at) => 40_000 + at));
    resolver.close();
    server.close();
  });
});
