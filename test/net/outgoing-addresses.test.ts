import { describe, expect, test } from "bun:test";
import { createAddressLookup } from "../../src/net/address-lookup.ts";
import { type Connect, connect } from "../../src/net/connection.ts";
import { createHttpClient, type OutgoingRules } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startDns } from "../support/dns-server.ts";
import { certificate, startRawServer } from "../support/raw-server.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/**
 * A client that resolves by a made-up DNS server. What it connects to is written down, and leads to one port of
 * this machine.
 */
async function startClient(zone: string, port: number, rules: OutgoingRules = {}) {
  const dns = await startDns(zone, { attemptTimeoutsMs: [300] });
  const dialled: string[] = [];
  const dial: Connect = (options) => {
    dialled.push(`${options.address} ${options.port}`);
    return connect({ ...options, address: "127.0.0.1", port });
  };
  const client = createHttpClient(
    {
      lookUp: createAddressLookup(dns.resolver),
      clock: systemClock,
      connect: dial,
      ca: certificate("ca.pem"),
    },
    rules,
  );
  const outcome = async (url: string): Promise<string> => {
    const reply = await client.send(url);
    return reply.ok ? `${reply.status} ${Buffer.from(reply.body)}` : reply.reason;
  };
  return { ...dns, dns: dns.server, client, dialled, outcome };
}

test("a public host is reached at the address that was checked, by its own name, after one look-up of each kind", async () => {
  using server = await startRawServer((socket) => socket.end(OK));
  await using outside = await startClient("good.example A 93.184.216.34", server.port);
  expect(await outside.outcome("http://good.example/a?b=c")).toBe("200 ok");
  expect(outside.dialled).toEqual(["93.184.216.34 80"]);
  expect(outside.dns.queryCount()).toBe(2);
  expect(server.requests[0]).toStartWith("GET /a?b=c HTTP/1.1\r\nhost: good.example\r\n");
});

test("a name that points elsewhere as soon as it is checked leads nowhere else", async () => {
  using server = await startRawServer((socket) => socket.end(OK));
  await using outside = await startClient("rebound.example 0 A 93.184.216.34", server.port);
  const { dns, dialled } = outside;
  const rebinding: Connect = (options) => {
    dns.setZone("rebound.example 0 A 127.0.0.1");
    dialled.push(options.address);
    return connect({ ...options, address: "127.0.0.1", port: server.port });
  };
  const lookUp = createAddressLookup(outside.resolver);
  const client = createHttpClient({ lookUp, clock: systemClock, connect: rebinding }, {});
  expect(await client.send("http://rebound.example/")).toMatchObject({ ok: true, status: 200 });
  expect(dialled).toEqual(["93.184.216.34"]);
  expect(await client.send("http://rebound.example/")).toMatchObject({
    ok: false,
    reason: "private_address",
  });
  expect(dialled).toEqual(["93.184.216.34"]);
});

describe("a host with a private address", () => {
  const PRIVATE_A =
    "127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255";
  const PRIVATE_AAAA =
    "::1 :: fe80::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 " +
    "64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 2002:7f00:1:: 2002:808:808::1 2001:0:4136:e378:8000:63bf:3fff:fdd2";
  const zone = (host: string, type: string, address: string): string => `${host} ${type} ${address}`;

  test.each(PRIVATE_A.split(" "))("%s is refused before anything is sent", async (address) => {
    await using outside = await startClient(zone("bad.example", "A", address), 9);
    expect(await outside.outcome("http://bad.example/")).toBe("private_address");
    expect(outside.dialled).toEqual([]);
  });

  test.each(PRIVATE_AAAA.split(" "))("%s is refused beside a public one", async (address) => {
    const both = `${zone("bad.example", "A", "8.8.8.8")}\n${zone("bad.example", "AAAA", address)}`;
    await using outside = await startClient(both, 9);
    expect(await outside.outcome("http://bad.example/")).toBe("private_address");
    expect(outside.dialled).toEqual([]);
  });

  test("behind an alias is refused", async () => {
    await using outside = await startClient("bad.example CNAME inner.example\ninner.example A 10.0.0.1", 9);
    expect(await outside.outcome("https://bad.example/")).toBe("private_address");
  });

  test("is reached where that is allowed", async () => {
    using server = await startRawServer((socket) => socket.end(OK));
    await using outside = await startClient("dev.example A 10.0.0.1", server.port, { allowPrivate: true });
    expect(await outside.outcome("http://dev.example:3000/")).toBe("200 ok");
    expect(outside.dialled).toEqual(["10.0.0.1 3000"]);
    expect(await outside.outcome("http://localhost:3000/")).toBe("200 ok");
  });
});

test("a host that the DNS does not know, fails for or says nothing of is three failures", async () => {
  await using outside = await startClient(
    "known.example TXT x\nbroken.example !servfail\nmute.example !silent",
    9,
  );
  expect(await outside.outcome("https://gone.example/")).toBe("dns_not_found");
  expect(await outside.outcome("https://known.example/")).toBe("dns_not_found");
  expect(await outside.outcome("https://broken.example/")).toBe("dns_failed");
  expect(await outside.outcome("https://mute.example/")).toBe("dns_timeout");
});

describe("a redirect", () => {
  const to = (location: string, status = 302): string =>
    `HTTP/1.1 ${status} Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`;
  const ZONE = "a.example A 93.184.216.34\nb.example A 93.184.216.35\ninner.example A 10.0.0.1";

  test("is a reply unless redirects are followed", async () => {
    using server = await startRawServer((socket) => socket.end(to("/there")));
    await using outside = await startClient(ZONE, server.port);
    expect(await outside.outcome("http://a.example/")).toBe("302 ");
  });

  test("is followed on the same host, with a new look-up, as often as is allowed", async () => {
    using server = await startRawServer((socket, request) => {
      const hop = Number(/GET \/(\d)/.exec(request)?.[1]);
      socket.end(hop < 3 ? to(`/${hop + 1}`) : OK);
    });
    await using outside = await startClient(ZONE, server.port, { redirectsMax: 2 });
    expect(await outside.outcome("http://a.example/1")).toBe("200 ok");
    expect(outside.dns.queryCount("a.example", "A")).toBe(3);
    expect(await outside.outcome("http://a.example/0")).toBe("too_many_redirects");
  });

  test.each([
    ["http://inner.example/", true, "private_address"],
    ["http://b.example/", false, "other_host"],
    ["http://b.example/there", true, "200 ok"],
    ["http://127.0.0.1/", true, "literal_address"],
    ["http://0x7f.1/", true, "literal_address"],
    ["//a.example:22/", true, "bad_port"],
    ["http://user@a.example/", true, "user_info"],
    ["file:///etc/passwd", true, "bad_redirect"],
    ["http://printer.local/", true, "local_name"],
    ["", true, "bad_redirect"],
  ])("to %s (other hosts allowed: %p) ends in %s", async (location, allowOtherHosts, expected) => {
    using server = await startRawServer((socket, request) => {
      socket.end(request.startsWith("GET /there") || request.includes("host: b.") ? OK : to(location));
    });
    await using outside = await startClient(ZONE, server.port, { redirectsMax: 2, allowOtherHosts });
    if (location === "") return expect(await outside.outcome("http://a.example/")).toBe("too_many_redirects");
    expect(await outside.outcome("http://a.example/")).toBe(expected);
  });

  test("to another origin leaves credentials behind, and makes a GET of a POST where it must", async () => {
    using server = await startRawServer((socket, request) => {
      if (request.includes("host: b.")) socket.end(OK);
      else socket.end(to("http://b.example/there", request.startsWith("PUT") ? 308 : 303));
    });
    await using outside = await startClient(ZONE, server.port, { redirectsMax: 1, allowOtherHosts: true });
    const headers = {
      authorization: "Bearer secret",
      cookie: "a=b",
      "content-type": "text/plain",
      "x-kept": "yes",
    };
    await outside.client.send("http://a.example/", { method: "POST", headers, body: "hello" });
    await outside.client.send("http://a.example/", { method: "PUT", headers, body: "hello" });
    const [, afterPost = "", , afterPut = ""] = server.requests;
    for (const request of [afterPost, afterPut]) {
      expect(request).toContain("x-kept: yes");
      expect(request).not.toMatch(/authorization|cookie/);
    }
    expect(afterPost).toStartWith("GET /there");
    expect(afterPost).not.toMatch(/content-|hello/);
    expect(afterPut).toStartWith("PUT /there");
    expect(afterPut).toEndWith("content-length: 5\r\n\r\nhello");
  });
});

describe("by TLS", () => {
  const ZONE = "good.example A 93.184.216.34\nother.example A 93.184.216.34";

  test("the certificate must be the name's, and the reply says what it is", async () => {
    using server = await startRawServer((socket) => socket.end(OK), "good");
    await using outside = await startClient(ZONE, server.port);
    const reply = await outside.client.send("https://good.example/");
    expect(reply).toMatchObject({
      ok: true,
      peer: {
        tls: { authorized: true, protocol: "TLSv1.3", error: null },
      },
    });
    expect(reply.peer?.tls?.validTo).toBeGreaterThan(systemClock.now());
    expect(server.connections()).toBe(1);
    expect(await outside.client.send("https://other.example/")).toMatchObject({
      reason: "certificate_invalid",
      peer: { tls: { authorized: false, error: "ERR_TLS_CERT_ALTNAME_INVALID" } },
    });
    expect(server.requests.length).toBe(1);
  });

  test("an expired certificate is refused, and the failure says when it expired", async () => {
    using server = await startRawServer((socket) => socket.end(OK), "expired");
    await using outside = await startClient(ZONE, server.port);
    expect(await outside.client.send("https://good.example/")).toMatchObject({
      reason: "certificate_invalid",
      peer: { tls: { error: "CERT_HAS_EXPIRED", validTo: Date.UTC(2020, 1, 1) } },
    });
    expect(server.requests).toEqual([]);
  });

  test("an authority that nobody knows is refused", async () => {
    using server = await startRawServer((socket) => socket.end(OK), "good");
    await using outside = await startClient(ZONE, server.port);
    const lookUp = createAddressLookup(outside.resolver);
    const dial: Connect = (options) => connect({ ...options, address: "127.0.0.1", port: server.port });
    const client = createHttpClient({ lookUp, clock: systemClock, connect: dial }, {});
    expect(await client.send("https://good.example/")).toMatchObject({ reason: "certificate_invalid" });
    expect(server.requests).toEqual([]);
  });

  test("a server that speaks none is a failure", async () => {
    using server = await startRawServer((socket) => socket.end(OK));
    await using outside = await startClient(ZONE, server.port);
    expect(await outside.outcome("https://good.example/")).toBe("tls_failed");
  });

  test("a redirect to plain http is refused", async () => {
    const location = "HTTP/1.1 301 Moved\r\nLocation: http://good.example/\r\n\r\n";
    using server = await startRawServer((socket) => socket.end(location), "good");
    await using outside = await startClient(ZONE, server.port, { redirectsMax: 2, allowPrivate: true });
    expect(await outside.outcome("https://good.example/")).toBe("insecure_redirect");
  });
});
