import { describe, expect, test } from "bun:test";
import { DOCUMENT_TYPES } from "../../src/contract/words.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { AutodetectResult, IdentityResult } from "../../src/verification/documents/outcome.ts";
import { jsonOf, refusalBodyOf } from "../support/json.ts";
import { IDENTITY_FIELDS } from "../support/result-fields.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

/** A month that does not end while its units are used up. */
const NOW = Date.parse("2026-11-20T10:00:00Z");
const server = await startFileServer({ clock: { now: () => NOW, monotonic: systemClock.monotonic } });
const key = await server.signUp();

type Batch = {
  readonly count: number;
  readonly summary: { readonly [word: string]: number };
  readonly results: readonly (IdentityResult & Partial<AutodetectResult>)[];
};

const get = (path: string, query: { readonly [name: string]: string }) =>
  server.call(`${path}?${new URLSearchParams(query)}`, { key });
const post = (path: string, body: unknown, headers = {}) => server.call(path, { key, body, headers });

describe("/v1/identity/validate", () => {
  const path = "/v1/identity/validate";

  describe("200", () => {
    test("returns every field of the contract, and the cost", async () => {
      const reply = await get(path, { type: "iban", value: "de89 3704 0044 0532 0130 00" });
      expect(reply.headers.get("x-units-charged")).toBe("1");
      const result = await jsonOf<IdentityResult>(reply);
      expect(Object.keys(result)).toEqual(IDENTITY_FIELDS);
      expect(result).toMatchObject({
        type: "iban",
        value: "de89 3704 0044 0532 0130 00",
        valid: true,
        reason: null,
        normalized: "DE89370400440532013000",
        formatted: "DE89 3704 0044 0532 0130 00",
        country: "DE",
        strength: "mod97",
        details: { bank_code: "37040044", account_number: "0532013000", sepa: true },
      });
    });

    test.each([
      ["cpf", "529.982.247-25", "52998224725"],
      ["cnpj", "11.222.333/0001-81", "11222333000181"],
      ["iban", "GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765432"],
      ["vat", "ATU13585627", "ATU13585627"],
      ["card", "5555 5555 5555 4444", "555555******4444"],
      ["isbn", "0-306-40615-2", "0306406152"],
      ["ean13", "4006381333931", "4006381333931"],
      ["ein", "12-3456789", "123456789"],
    ])("%s", async (type, value, normalized) => {
      const result = await jsonOf<IdentityResult>(await get(path, { type, value }));
      expect(result).toMatchObject({ type, valid: true, normalized });
    });

    test("POST returns what GET returns", async () => {
      const asked = { type: "cpf", value: "529.982.247-24" };
      const posted = await post(path, asked);
      expect(await posted.text()).toBe(await (await get(path, asked)).text());
    });

    test("an invalid number is a result with its reason, and costs what a valid one costs", async () => {
      const reply = await get(path, { type: "cpf", value: "529.982.247-24" });
      expect(await jsonOf<IdentityResult>(reply)).toMatchObject({
        valid: false,
        reason: "checksum",
        details: { expected_check_digits: "25" },
      });
      expect(reply.headers.get("x-units-charged")).toBe("1");
    });

    test.each([
      ["nothing", "", "length"],
      ["a lone surrogate", "\ud800", "format"],
      ["NUL", "\0", "format"],
      ["a page of text", "x".repeat(60_000), "length"],
      ["a prototype's key", "__proto__", "format"],
    ])("%s is a number that is not valid", async (_, value, reason) => {
      const result = await jsonOf<IdentityResult>(await post(path, { type: "cpf", value }));
      expect(result).toMatchObject({ valid: false, reason, value });
    });
  });

  describe("400", () => {
    const types = `type must be one of ${DOCUMENT_TYPES.join(", ")}.`;
    test.each([
      ["no type", { value: "1" }, "type is required."],
      ["no value", { type: "cpf" }, "value is required."],
      ["no such type", { type: "passport", value: "1" }, types],
      ["a type in another case", { type: "CPF", value: "1" }, types],
      ["a prototype's key for a type", { type: "constructor", value: "1" }, types],
    ])("%s", async (_, query: { [name: string]: string }, message) => {
      const expected = { code: "invalid_request", message };
      expect((await refusalBodyOf(await get(path, query))).error).toEqual(expected);
      expect((await refusalBodyOf(await post(path, query))).error).toEqual(expected);
    });

    test("a number for a value", async () => {
      const reply = await post(path, { type: "cpf", value: 52998224725 });
      expect((await refusalBodyOf(reply)).error.message).toBe("value must be a string.");
    });
  });

  test("401 without a key, before anything is read", async () => {
    expect(await refusalOf(await server.call(`${path}?type=cpf&value=1`))).toBe("401 missing_key");
    expect(await refusalOf(await server.call(path, { body: "{" }))).toBe("401 missing_key");
  });

  test("413 for a body past the limit", async () => {
    const reply = await post(path, { type: "cpf", value: "x".repeat(200_000) });
    expect(await refusalOf(reply)).toBe("413 payload_too_large");
  });

  test("415 for a body of another type", async () => {
    const reply = await post(path, "type=cpf", { "Content-Type": "application/x-www-form-urlencoded" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});

describe("/v1/identity/autodetect", () => {
  const path = "/v1/identity/autodetect";
  const detect = async (value: string) => jsonOf<AutodetectResult>(await get(path, { value }));

  describe("200", () => {
    test.each([
      ["cpf", "529.982.247-25"],
      ["cnpj", "12.ABC.345/01DE-35"],
      ["iban", "DE89370400440532013000"],
      ["vat", "ATU13585627"],
      ["card", "4242424242424242"],
      ["isbn", "978-3-16-148410-0"],
      ["ean13", "4006381333931"],
      ["ein", "12-3456789"],
    ] as const)("finds the %s", async (type, value) => {
      const result = await detect(value);
      expect(result).toMatchObject({ detected: type, type });
      expect(result.candidates[0]).toMatchObject({ type, confidence: result.confidence });
    });

    test("POST returns what GET returns", async () => {
      const value = "9783161484100";
      expect(await (await post(path, { value })).text()).toBe(await (await get(path, { value })).text());
    });

    test.each(["", "hello", "\ud800", "x".repeat(60_000), "toString"])("nothing fits %#", async (value) => {
      const result = await jsonOf<AutodetectResult>(await post(path, { value }));
      expect(result).toMatchObject({ detected: null, type: null, valid: false, details: null });
    });
  });

  test("400 names the parameter that is missing", async () => {
    const reply = await get(path, {});
    expect((await refusalBodyOf(reply)).error.message).toBe("value is required.");
  });

  test("401 without a key, before anything is read", async () => {
    expect(await refusalOf(await server.call(`${path}?value=1`))).toBe("401 missing_key");
  });
});

describe("/v1/identity/batch", () => {
  const path = "/v1/identity/batch";
  const items = [
    { type: "cpf", value: "529.982.247-25" },
    { value: "978-3-16-148410-0" },
    { type: "card", value: "4242424242424242" },
    { type: "cpf", value: "529.982.247-25" },
    { type: "iban", value: "nonsense" },
  ];

  describe("200", () => {
    test("each item has the result of a single check, and duplicates are charged once", async () => {
      const reply = await post(path, { items });
      expect(reply.headers.get("x-units-charged")).toBe("4");
      const batch = await jsonOf<Batch>(reply);
      expect(batch.count).toBe(5);
      expect(batch.summary).toEqual({ valid: 4, invalid: 1, duplicates: 1, units_charged: 4 });
      const alone = await Promise.all(
        items.map(async (item) => {
          const one = item.type === undefined ? "autodetect" : "validate";
          return jsonOf<unknown>(await post(`/v1/identity/${one}`, item));
        }),
      );
      expect(batch.results as unknown).toEqual(alone);
    });

    test("as lines in and out", async () => {
      const headers = { "Content-Type": "application/x-ndjson", Accept: "application/x-ndjson" };
      const body = items.map((item) => JSON.stringify(item)).join("\n");
      const lines = (await (await post(path, body, headers)).text()).trimEnd().split("\n");
      const { results, ...rest } = await jsonOf<Batch>(await post(path, { items }));
      expect(lines.map((line) => JSON.parse(line))).toEqual([...results, rest]);
    });

    test("an empty list costs nothing", async () => {
      const batch = await jsonOf<Batch>(await post(path, { items: [] }));
      expect(batch).toEqual({
        count: 0,
        results: [],
        summary: { valid: 0, invalid: 0, duplicates: 0, units_charged: 0 },
      });
    });
  });

  describe("400", () => {
    test.each([
      ["no list", {}, "400 invalid_request"],
      ["an item that is a text", { items: ["1"] }, "400 invalid_request"],
      ["an item without value", { items: [{ type: "cpf" }] }, "400 invalid_request"],
      ["an item of no such type", { items: [{ type: "toString", value: "1" }] }, "400 invalid_request"],
    ])("%s", async (_, body, refusal) => {
      const reply = await post(path, body);
      expect(await refusalOf(reply)).toBe(refusal);
      expect(reply.headers.get("x-units-charged")).toBe("0");
    });

    test("more items than the plan allows", async () => {
      const free = await server.signUp("free");
      const body = { items: Array.from({ length: 101 }, (_, n) => ({ value: `${n}` })) };
      const reply = await server.call(path, { key: free, body });
      expect((await refusalBodyOf(reply)).error).toMatchObject({
        code: "batch_too_large",
        message: expect.stringContaining("100"),
      });
    });
  });

  test("401 without a key, before anything is read", async () => {
    expect(await refusalOf(await server.call(path, { body: { items } }))).toBe("401 missing_key");
  });

  test("402 before any work where the hard stop would be passed", async () => {
    const free = await server.signUp("free");
    const hundred = (from: number) => ({
      items: Array.from({ length: 100 }, (_, n) => ({ type: "ein", value: `${from + n}` })),
    });
    for (let n = 0; n < 10; n += 1) {
      expect((await server.call(path, { key: free, body: hundred(n * 100) })).status).toBe(200);
    }
    const reply = await server.call(path, { key: free, body: { items: items.slice(0, 1) } });
    expect(await refusalOf(reply)).toBe("402 quota_exceeded");
    expect(reply.headers.get("x-units-remaining")).toBe("0");
    const secondsLeft = (Date.parse("2026-12-01T00:00:00Z") - NOW) / 1000;
    expect(reply.headers.get("retry-after")).toBe(`${secondsLeft}`);
  });

  test("415 for a body of another type", async () => {
    const reply = await post(path, "<items/>", { "Content-Type": "application/xml" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});
