import { describe, expect, test } from "bun:test";
import type { PhoneResult } from "../../src/verification/phone/phone-number.ts";
import { jsonOf, refusalBodyOf } from "../support/json.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

const server = await startFileServer();
const key = await server.signUp();

type Batch = {
  readonly count: number;
  readonly summary: { readonly [word: string]: number };
  readonly results: readonly PhoneResult[];
};

const post = (path: string, body: unknown, headers = {}) => server.call(path, { key, body, headers });

describe("/v1/phone/validate", () => {
  const path = "/v1/phone/validate";
  const get = (query: string) => server.call(`${path}?${query}`, { key });

  describe("200", () => {
    test("returns every field of the contract, and the cost", async () => {
      const reply = await get("phone=%2B5511987654321");
      expect(reply.headers.get("x-units-charged")).toBe("1");
      expect(await jsonOf<PhoneResult>(reply)).toEqual({
        phone: "+5511987654321",
        valid: true,
        possible: true,
        reason: null,
        e164: "+5511987654321",
        international: "+55 11 98765 4321",
        national: "(11) 98765-4321",
        rfc3966: expect.stringMatching(/^tel:\+55/),
        country: "BR",
        calling_code: "55",
        national_number: "11987654321",
        extension: null,
        is_non_geographic: false,
        vanity: false,
        type: "mobile",
        timezones: ["America/Sao_Paulo"],
        original_carrier: null,
      });
    });

    test.each(["BR", "br", "55", "%2B55", "+55"])("a national number with country=%s", async (country) => {
      const result = await jsonOf<PhoneResult>(await get(`phone=11987654321&country=${country}`));
      expect(result).toMatchObject({ phone: "11987654321", e164: "+5511987654321" });
    });

    test("a plus that arrived as a space is read as a plus", async () => {
      const result = await jsonOf<PhoneResult>(await get("phone=+5511987654321"));
      expect(result).toMatchObject({ phone: "+5511987654321", valid: true });
    });

    test("POST returns what GET returns", async () => {
      const posted = await post(path, { phone: "(212) 736-5000", country: "US" });
      const got = await get(`phone=${encodeURIComponent("(212) 736-5000")}&country=US`);
      expect(await posted.text()).toBe(await got.text());
    });

    test.each([
      ["nothing", ""],
      ["words", "call me"],
      ["a lone surrogate", "\ud800"],
      ["a page of digits", "1".repeat(60_000)],
      ["a prototype's key", "__proto__"],
    ])("%s is a number that is not valid, and no error", async (_, phone) => {
      const reply = await post(path, { phone });
      const result = await jsonOf<PhoneResult>(reply);
      expect(result).toMatchObject({ phone, valid: false, e164: null });
      expect(result.reason).not.toBeNull();
    });
  });

  describe("400", () => {
    const country = "country must be an ISO 3166 alpha-2 code or a calling code.";
    test.each([
      ["no number", "country=BR", "phone is required."],
      ["no such country", "phone=1&country=ZZ", country],
      ["a country's name", "phone=1&country=Brazil", country],
      ["a country with a control character", "phone=1&country=BR%0A", country],
      ["a prototype's key for a country", "phone=1&country=__proto__", country],
    ])("%s", async (_, query, message) => {
      expect((await refusalBodyOf(await get(query))).error).toEqual({ code: "invalid_request", message });
    });

    test("a number for a text", async () => {
      const reply = await post(path, { phone: 5511987654321 });
      expect((await refusalBodyOf(reply)).error.message).toBe("phone must be a string.");
    });
  });

  test("401 without a key", async () => {
    expect(await refusalOf(await server.call(`${path}?phone=1`))).toBe("401 missing_key");
  });

  test("415 for a body of another type", async () => {
    const reply = await post(path, "+55", { "Content-Type": "text/plain" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});

describe("/v1/phone/batch", () => {
  const path = "/v1/phone/batch";
  const phones = ["11 98765-4321", "+442079460958", "nonsense", "11 98765-4321"];

  describe("200", () => {
    test("each number has the result of a single check, and duplicates are charged once", async () => {
      const reply = await post(path, { phones, country: "BR" });
      expect(reply.headers.get("x-units-charged")).toBe("3");
      const batch = await jsonOf<Batch>(reply);
      expect(batch.summary).toEqual({ valid: 3, invalid: 1, duplicates: 1, units_charged: 3 });
      const alone = await Promise.all(
        phones.map(async (phone) =>
          jsonOf<PhoneResult>(await post("/v1/phone/validate", { phone, country: "BR" })),
        ),
      );
      expect(batch.results).toEqual(alone);
    });

    test("as lines of text in, with the country in the query, and NDJSON out", async () => {
      const headers = { "Content-Type": "text/plain", Accept: "application/x-ndjson" };
      const reply = await post(`${path}?country=BR`, phones.join("\r\n"), headers);
      expect(reply.headers.get("content-type")).toStartWith("application/x-ndjson");
      const lines = (await reply.text()).trimEnd().split("\n");
      const { results, ...rest } = await jsonOf<Batch>(await post(path, { phones, country: "BR" }));
      expect(lines.map((line) => JSON.parse(line))).toEqual([...results, rest]);
    });

    test("an empty list costs nothing", async () => {
      expect((await jsonOf<Batch>(await post(path, { phones: [] }))).summary.units_charged).toBe(0);
    });
  });

  describe("400", () => {
    test.each([
      ["no list", {}],
      ["a number among texts", { phones: ["+1", 1] }],
      ["no such country", { phones: [], country: "ZZ" }],
      ["a country that is a number", { phones: [], country: 55 }],
    ])("%s", async (_, body) => {
      expect(await refusalOf(await post(path, body))).toBe("400 invalid_request");
    });

    test("more numbers than the plan allows", async () => {
      const free = await server.signUp("free");
      const body = { phones: Array.from({ length: 101 }, (_, n) => `+55119876${n}`) };
      expect(await refusalOf(await server.call(path, { key: free, body }))).toBe("400 batch_too_large");
    });
  });

  test("401 without a key", async () => {
    expect(await refusalOf(await server.call(path, { body: { phones } }))).toBe("401 missing_key");
  });

  test("415 for a body of another type", async () => {
    const reply = await post(path, "+55", { "Content-Type": "application/octet-stream" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});
