import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../support/server.ts";
import { type Operation, readSpecification } from "../support/specification.ts";

/** A card number goes through; nothing of its middle is left behind. */

/** No test numbers, so that none of them stands in our own tables; each passes Luhn, and none repeats itself as quotients do. */
const CARDS = [
  "4539578763621486",
  "6011000991543426",
  "3566184729053175",
  "5105158763624888",
  "378734493671000",
];
const spaced = (card: string) => card.replace(/(\d{4})(?=\d)/g, "$1 ");
/** Writings with more digits than the card's, and with digits that are not plain. */
const companies: readonly ((card: string) => string)[] = [
  (card) => `${card} 123`,
  (card) => `${card}/12/2027`,
  (card) => `1234 ${card}`,
  (card) => `${card},4111111111111111`,
  (card) => `${card};ext=4111111111111111`,
  (card) => card.replace(/\d{4}(?=\d)/g, "$&     "),
  (card) => [...card].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0x630)).join(""),
];

describe("a card number", () => {
  test.each(["validate", "autodetect"])("is masked by /v1/identity/%s, however it is sent", async (check) => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const seen: string[] = [];
    for (const card of CARDS) {
      for (const value of [card, spaced(card), card.replace(/(\d{4})(?=\d)/g, "$1-"), ` ${card} `]) {
        const query = new URLSearchParams({ type: "card", value });
        seen.push(await textOf(await server.call(`/v1/identity/${check}?${query}`, { key })));
        const body = { type: "card", value };
        const headers = { "Idempotency-Key": `${check}-${seen.length}` };
        seen.push(await textOf(await server.call(`/v1/identity/${check}`, { key, body, headers })));
      }
    }
    expect(seen[0]).toContain("453957******1486");
    expectNowhere(server, await tracesOf(server, seen));
  });

  test("is masked in a batch, in every form, kept replies included", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const items = CARDS.flatMap((value) => [{ value }, { type: "card", value: spaced(value) }]);
    const seen: string[] = [];
    for (const Accept of ["application/json", "application/x-ndjson"]) {
      const headers = { Accept, "Idempotency-Key": Accept };
      for (let call = 0; call < 2; call += 1) {
        seen.push(await textOf(await server.call("/v1/identity/batch", { key, body: { items }, headers })));
      }
    }
    const lines = { "Content-Type": "text/plain" };
    seen.push(
      await textOf(await server.call("/v1/identity/batch", { key, body: CARDS.join("\n"), headers: lines })),
    );
    expectNowhere(server, await tracesOf(server, seen));
  });

  test("given as another document is masked, too", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const seen: string[] = [];
    for (const type of ["cpf", "cnpj", "iban", "vat", "isbn", "ean13", "ein"]) {
      for (const value of CARDS) {
        seen.push(await textOf(await server.call("/v1/identity/validate", { key, body: { type, value } })));
      }
    }
    expectNowhere(server, await tracesOf(server, seen));
  });

  test("given as a document, a phone or an email is masked beside other digits, too", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const seen: string[] = [];
    for (const value of CARDS.flatMap((card) => companies.map((write) => write(card)))) {
      const bodies = [
        ["/v1/identity/validate", { type: "ean13", value }],
        ["/v1/phone/validate", { phone: value, country: "US" }],
        ["/v1/phone/batch", { phones: [value], country: "US" }],
        ["/v1/email/verify", { email: value }],
      ] as const;
      for (const [path, body] of bodies) seen.push(await textOf(await server.call(path, { key, body })));
    }
    expect(seen.some((text) => text.includes("4111111111111111"))).toBe(false);
    expectNowhere(server, await tracesOf(server, seen));
  });

  test("in a job is masked in its results, in every form, and in its refusals", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const seen: string[] = [];
    const sent = async (body: string, type: string, query: string): Promise<void> => {
      const headers = { "Content-Type": type };
      const text = await textOf(await server.call(`/v1/jobs?${query}`, { key, body, headers }));
      seen.push(text);
      const jobId: unknown = JSON.parse(text).job_id;
      if (jobId === undefined) return;
      seen.push(await textOf(await server.call(`/v1/jobs/${jobId}/events`, { key })));
      for (const format of ["csv", "ndjson", "json"]) {
        seen.push(await textOf(await server.call(`/v1/jobs/${jobId}/results?format=${format}`, { key })));
      }
    };
    const written = CARDS.flatMap((card) => [card, spaced(card), ...companies.map((write) => write(card))]);
    const records = written.map((card, at) => `${at},"${card}","a ""note"""`);
    const rows = `id,value,note\r\n${records.join("\r\n")}\r\n`;
    for (const kind of ["identity", "phone", "email"]) {
      await sent(rows, "text/csv", `kind=${kind}&column=2`);
      await sent(CARDS.map((card) => `${card};n\n`).join(""), "text/csv", `kind=${kind}&column=1`);
      await sent(written.join("\n"), "text/plain", `kind=${kind}`);
    }
    expect(seen.some((text) => text.includes('0,453957******1486,"a ""note""",card,true'))).toBe(true);
    // The first row is taken for a header.
    await sent(CARDS.join(","), "text/csv", "kind=email");
    await sent(CARDS.join(","), "text/csv", "kind=email&column=99");
    await sent(CARDS.slice(1).join(","), "text/csv", `kind=email&column=${CARDS[0]}`);
    expect(seen.filter((text) => text.includes("has no column")).length).toBe(3);
    expectNowhere(server, [...seen, logOf(server), await textOf(await server.call("/metrics"))]);
  });

  test("in any parameter of any route is in no reply, log line, metric or file", async () => {
    await using server = await startTestServer();
    const key = await server.signUp();
    const [card = ""] = CARDS;
    const seen: string[] = [];
    const { operations } = await readSpecification(server);
    for (const operation of operations.filter(({ operationId }) => operationId !== "signUp")) {
      for (const withKey of [{}, { key }]) {
        const reply = await server.call(pathWith(operation, card), {
          ...withKey,
          method: operation.method,
          headers: { "Idempotency-Key": `k-${operation.operationId}`, "X-Request-Id": card },
          ...(operation.requestBody === undefined ? {} : { body: bodyWith(operation, card) }),
        });
        seen.push(await reply.text());
      }
    }
    await server.call(`/${card}`, { key });
    await server.call(`/v1/plans?card=${card}`, { method: "DELETE" });
    expectNowhere(server, await tracesOf(server, seen));
  });
});

const textOf = (reply: Response) => reply.text();
const logOf = (server: TestServer) => JSON.stringify(server.logged());

async function tracesOf(server: TestServer, seen: readonly string[]): Promise<string[]> {
  return [...seen, logOf(server), await textOf(await server.call("/metrics")), ...filesOf(server.dataDir)];
}

/** Reads all again where one was renamed meanwhile, as the server does with what it has written. */
function filesOf(folder: string, triesLeft = 5): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"));
  } catch (error) {
    if (triesLeft === 0 || !(error instanceof Error && "code" in error && error.code === "ENOENT"))
      throw error;
    return filesOf(folder, triesLeft - 1);
  }
}

/** Neither the number nor its middle, with or without separators. */
function expectNowhere(server: TestServer, texts: readonly string[]): void {
  expect(server.logged().length).toBeGreaterThan(0);
  for (const text of texts) {
    const joined = text
      .replace(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
      .replace(/(?<=\d)[ -]+(?=\d)/g, "");
    for (const card of CARDS) {
      expect(joined.includes(card)).toBe(false);
      expect(joined.includes(card.slice(4, -4))).toBe(false);
    }
  }
}

function pathWith({ path, parameters }: Operation, card: string): string {
  const query = new URLSearchParams();
  for (const { name, in: place } of parameters) if (place === "query") query.set(name, card);
  return `${path.replace(/\{\w+\}/, card)}${query.size === 0 ? "" : `?${query}`}`;
}

function bodyWith({ operationId }: Operation, card: string): unknown {
  if (operationId.endsWith("s"))
    return { emails: [card], phones: [card], items: [{ value: card }], country: card };
  return {
    email: card,
    phone: card,
    type: "card",
    value: card,
    country: card,
    plan: card,
    overlap_seconds: card,
  };
}
