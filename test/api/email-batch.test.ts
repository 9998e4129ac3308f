import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import type { EmailVerification } from "../../src/verification/email/email-verification.ts";
import { accountOf, emailBatchOf, emailOf, refusalBodyOf } from "../support/json.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

const server = await startFileServer();
const key = await server.signUp();

const MIXED = [
  "jane.doe@good.com",
  "info@good.com",
  "no at sign",
  "a@null.com",
  "a@servfail.com",
  "jane.doe@good.com",
  "",
  "a@nowhere.com",
  'x"y\\z\u2028@good.com',
  "user@domain.invalid",
];

const batch = (body: unknown, headers: { [name: string]: string } = {}) =>
  server.call("/v1/email/batch", { key, body, headers });

const single = async (email: string) => {
  const reply = await server.call("/v1/email/verify", { key, body: { email } });
  return { result: await emailOf(reply), units: Number(reply.headers.get("x-units-charged")) };
};

describe("200", () => {
  test("results are in the order of the request and equal those of single calls", async () => {
    const reply = await batch({ emails: MIXED });
    const body = await emailBatchOf(reply);
    expect(Object.keys(body)).toEqual(["count", "results", "summary"]);
    const singles = await Promise.all(MIXED.map(single));
    expect(body.count).toBe(MIXED.length);
    expect(body.results).toEqual(singles.map(({ result }) => result));
    const statuses = singles.map(({ result }) => result.status);
    const distinctUnits = singles.reduce((sum, { units }) => sum + units, 0) - 1;
    expect(body.summary).toEqual({
      deliverable: statuses.filter((status) => status === "deliverable").length,
      risky: statuses.filter((status) => status === "risky").length,
      undeliverable: statuses.filter((status) => status === "undeliverable").length,
      unknown: 1,
      duplicates: 1,
      units_charged: distinctUnits,
    });
    expect(reply.headers.get("x-units-charged")).toBe(`${distinctUnits}`);
  });

  test("an empty list is an empty batch", async () => {
    const body = await emailBatchOf(await batch({ emails: [] }));
    expect(body).toMatchObject({ count: 0, results: [], summary: { units_charged: 0, duplicates: 0 } });
  });

  test("deep costs double", async () => {
    const body = await emailBatchOf(await batch({ emails: ["a@good.com", "b@good.com"], deep: true }));
    expect(body.summary.units_charged).toBe(4);
  });

  test.each([
    ["text/plain", MIXED.slice(0, 6).join("\r\n")],
    [
      "application/x-ndjson",
      MIXED.slice(0, 6)
        .map((email) => JSON.stringify({ email }))
        .join("\n"),
    ],
    [
      "application/x-ndjson",
      `\n${MIXED.slice(0, 6)
        .map((email) => JSON.stringify(email))
        .join("\n")}\n\n`,
    ],
  ])("a body of %s is a batch too", async (type, body) => {
    const listed = await emailBatchOf(await batch({ emails: MIXED.slice(0, 6), dns: false }));
    const reply = await server.call("/v1/email/batch?dns=false", {
      key,
      body,
      headers: { "Content-Type": type },
    });
    expect(await emailBatchOf(reply)).toEqual(listed);
  });

  test.each([3, 40, 5000])("NDJSON of %i: a result on each line, then count and summary", async (count) => {
    const emails = Array.from({ length: count }, (_, n) => `user${n}@d${n % 7}.many.com`);
    const reply = await batch({ emails }, { Accept: "application/x-ndjson" });
    expect(reply.headers.get("content-type")).toStartWith("application/x-ndjson");
    const lines = (await reply.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const last = lines.pop();
    expect(lines.map(({ email }) => email)).toEqual(emails);
    expect(last).toEqual({
      count,
      summary: expect.objectContaining({ deliverable: count, units_charged: count }),
    });
  });

  test("a streamed reply is the same as many small ones", async () => {
    const emails = Array.from({ length: 4500 }, (_, n) => `person.${n}@d${n % 50}.many.com`);
    const body = await emailBatchOf(await batch({ emails }));
    const parts: EmailVerification[] = [];
    for (let start = 0; start < emails.length; start += 30) {
      parts.push(...(await emailBatchOf(await batch({ emails: emails.slice(start, start + 30) }))).results);
    }
    expect(body.results).toEqual(parts);
  });
});

describe("400", () => {
  test.each([
    [{ emails: "a@good.com" }, "emails must be an array."],
    [{}, "emails is required."],
    [{ emails: ["a@good.com", 7] }, "emails[1] must be a string."],
    [{ emails: [{ email: "a@good.com" }] }, "emails[0] must be a string."],
    [{ emails: [], deep: "yes" }, "deep must be true or false."],
    [["a@good.com"], "The body must be a JSON object."],
  ])("%j", async (body, message) => {
    const reply = await batch(body);
    expect((await refusalBodyOf(reply)).error).toEqual({ code: "invalid_request", message });
  });

  test("a batch over the plan's size is refused as a whole", async () => {
    const free = await server.signUp("free");
    const emails = Array.from({ length: 101 }, (_, n) => `a${n}@good.com`);
    const reply = await server.call("/v1/email/batch", { key: free, body: { emails } });
    expect(await refusalOf(reply)).toBe("400 batch_too_large");
    expect((await accountOf(await server.call("/v1/account", { key: free }))).usage.units).toBe(0);
  });

  test("a body that is not UTF-8 is refused", async () => {
    const reply = await batch(new Uint8Array([0x7b, 0xff, 0x7d]));
    expect(await refusalOf(reply)).toBe("400 invalid_request");
  });
});

describe("402", () => {
  test("a batch that would pass the hard stop is refused before any work", async () => {
    const free = await server.signUp("free");
    server.dns.resetCounts();
    for (let round = 0; round < 10; round += 1) {
      const emails = Array.from({ length: 100 - (round === 0 ? 1 : 0) }, (_, n) => `a${round}.${n}@good.com`);
      expect((await server.call("/v1/email/batch", { key: free, body: { emails } })).status).toBe(200);
    }
    const reply = await server.call("/v1/email/batch", {
      key: free,
      body: { emails: ["a@fresh.many.com", "b@good.com"] },
    });
    expect(await refusalOf(reply)).toBe("402 quota_exceeded");
    expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(reply.headers.get("x-units-remaining")).toBe("1");
    expect(server.dns.queryCount("fresh.many.com")).toBe(0);
    // Repeats cost nothing, so three of one address still fit.
    const repeats = await server.call("/v1/email/batch", {
      key: free,
      body: { emails: Array.from({ length: 3 }, () => "last@good.com") },
    });
    expect((await emailBatchOf(repeats)).summary).toMatchObject({ duplicates: 2, units_charged: 1 });
  });
});

describe("a reader that leaves", () => {
  test("stops the work: what was verified is charged, the rest is not, and it is no bug", async () => {
    const emails = Array.from({ length: 100_000 }, (_, n) => `leaver${n}@d${n % 100}.many.com`);
    const leaver = await server.signUp();
    const reply = await server.call("/v1/email/batch", { key: leaver, body: { emails } });
    const reader = reply.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const units = async () =>
      (await accountOf(await server.call("/v1/account", { key: leaver }))).usage.units;
    let before = -1;
    let now = await units();
    while (now !== before) {
      before = now;
      now = await units();
    }
    expect(now).toBeGreaterThan(0);
    expect(now).toBeLessThan(100_000);
    expect(server.logged().filter(({ event }) => event === "bug")).toEqual([]);
  });

  test("while the body still arrives is no bug either", async () => {
    const leaver = await server.signUp();
    const finished = async () => {
      const text = await (await server.call("/metrics")).text();
      const counts = text.matchAll(/^assay_http_requests_total\{route="\/v1\/email\/batch",.*\} (\d+)$/gm);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await finished();
    const head = `POST /v1/email/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${leaver}\r\nContent-Type: application/json\r\n`;
    const bodies = ["Content-Length: 1000000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"];
    for (const rest of bodies) {
      const connection = connect(Number(new URL(server.url).port), "127.0.0.1");
      await new Promise<void>((sent) => connection.write(head + rest, () => sent()));
      connection.destroy();
    }
    while ((await finished()) < before + bodies.length);
    expect(server.logged().filter(({ event }) => event === "bug")).toEqual([]);
  });
});

describe("422", () => {
  test.each([
    ["Accept", { Accept: "application/x-ndjson" }],
    ["Content-Type", { "Content-Type": "application/vnd.list+json" }],
  ])("an Idempotency-Key that comes again with another %s", async (name, changed) => {
    const first = { "Idempotency-Key": `fingerprint-${name}`, Accept: "application/json" };
    const body = { emails: ["jane.doe@good.com"] };
    expect((await batch(body, first)).status).toBe(200);
    expect((await batch(body, first)).headers.get("idempotent-replayed")).toBe("true");
    const reply = await batch(body, { ...first, ...changed });
    expect(reply.status).toBe(422);
    const message = `This Idempotency-Key was used with another ${name}.`;
    expect(await refusalBodyOf(reply)).toEqual({ error: { code: "idempotency_mismatch", message } });
  });
});
