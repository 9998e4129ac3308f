import { describe, expect, test } from "bun:test";
import { Resolver } from "node:dns/promises";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { parseZone } from "../../src/made-up-dns/zone-text.ts";
import { startDns } from "../support/dns-server.ts";

describe("a zone", () => {
  test("reads origins, TTLs, continued owners, quotes and comments", () => {
    const zone = parseZone(`
$ORIGIN a.com.
$TTL 60
@        MX 10 mx        ; relative
         600 IN MX 20 mx.b.com.
mx       A 8.8.8.8
text     TXT "one ; two" "say \\"hi\\"" bare
`);
    expect(zone.resolve("A.com.", "MX").answers).toEqual([
      { name: "a.com", ttl: 60, class: "IN", type: "MX", data: { preference: 10, exchange: "mx.a.com" } },
      { name: "a.com", ttl: 600, class: "IN", type: "MX", data: { preference: 20, exchange: "mx.b.com" } },
    ]);
    expect(zone.resolve("text.a.com", "TXT").answers).toMatchObject([
      { data: ["one ; two", 'say "hi"', "bare"] },
    ]);
  });

  test("knows what exists, what stands between, and what a wildcard covers", () => {
    const zone = parseZone("a.b.com A 8.8.8.8\n*.wild.com A 9.9.9.9\nown.wild.com TXT x");
    const rcode = (name: string) => zone.resolve(name, "A").rcode;
    const count = (name: string) => zone.resolve(name, "A").answers.length;
    expect([rcode("b.com"), rcode("com"), rcode("c.com"), rcode("x.a.b.com")]).toEqual([
      "NOERROR",
      "NOERROR",
      "NXDOMAIN",
      "NXDOMAIN",
    ]);
    expect([count("x.wild.com"), count("x.y.wild.com"), count("own.wild.com"), count("wild.com")]).toEqual([
      1, 1, 0, 0,
    ]);
    expect(rcode("x.own.wild.com")).toBe("NXDOMAIN");
  });

  test.each(["a.com HINFO x", "a.com !nonsense"])("refuses %p and names the line", (line) => {
    expect(() => parseZone(`b.com A 8.8.8.8\n${line}`)).toThrow("zone line 2");
  });
});

describe("the fixture server", () => {
  test("answers an ordinary client", async () => {
    await using server = await startFixtureServer({ zone: "a.com MX 10 mx.a.com" });
    const client = new Resolver();
    client.setServers([server.address]);
    expect(await client.resolveMx("a.com")).toEqual([{ priority: 10, exchange: "mx.a.com" }]);
  });

  test("counts questions by name and type", async () => {
    await using dns = await startDns("a.com MX 10 mx.a.com");
    await dns.resolver.lookUp("a.com", "MX");
    await dns.resolver.lookUp("A.com", "MX");
    await dns.resolver.lookUp("a.com", "A");
    const { server } = dns;
    expect([server.queryCount(), server.queryCount("A.COM"), server.queryCount("a.com", "MX")]).toEqual([
      3, 3, 2,
    ]);
    server.resetCounts();
    expect(server.queryCount()).toBe(0);
  });

  test("puts a fault on every question and takes it off again", async () => {
    await using dns = await startDns("a.com MX 10 mx.a.com");
    dns.server.setFault("!servfail");
    expect((await dns.resolver.lookUp("a.com", "MX")).detail).toBe("servfail");
    dns.server.setFault(null);
    expect((await dns.resolver.lookUp("a.com", "MX")).outcome).toBe("answer");
  });

  test("serves another zone from one question to the next", async () => {
    await using dns = await startDns("a.com A 8.8.8.8");
    await dns.resolver.lookUp("a.com", "A");
    dns.server.setZone("a.com A 9.9.9.9");
    expect((await dns.resolver.lookUp("a.com", "A")).records).toEqual(["9.9.9.9"]);
  });

  test("leaves random datagrams unanswered and goes on", async () => {
    await using dns = await startDns("a.com A 8.8.8.8");
    const socket = await Bun.udpSocket({ connect: { hostname: "127.0.0.1", port: dns.server.port } });
    for (let length = 0; length < 64; length++) {
      socket.send(Uint8Array.from({ length }, (_, at) => (at * 31 + length) & 0xff));
    }
    expect((await dns.resolver.lookUp("a.com", "A")).outcome).toBe("answer");
    socket.close();
  });
});
