import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { accountOf, jsonOf, refusalBodyOf } from "../support/json.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";

const server = await startFileServer();

const signUp = (body: unknown, headers = {}) => server.call("/v1/signup", { body, headers });
type SignedUp = { readonly account_id: string; readonly api_key: string };

describe("201", () => {
  test("returns an account and its key, and nothing else", async () => {
    const reply = await signUp({ email: "ann@good.com" });
    expect(reply.status).toBe(201);
    const body = await jsonOf<SignedUp>(reply);
    expect(Object.keys(body)).toEqual(["account_id", "api_key"]);
    expect(body.api_key).toMatch(/^asy_[0-9A-Za-z]{36}$/);
    const account = await accountOf(await server.call("/v1/account", { key: body.api_key }));
    expect(account).toMatchObject({ account_id: body.account_id, email: "ann@good.com", plan: "free" });
  });

  test("stores the fields, which may be null or unknown", async () => {
    const said = { name: "Bea", company: "Ünïcode & Søns 株式会社", country: "BR", plan: "growth" };
    const reply = await signUp({ email: " bea@good.com ", ...said, referral_code: null, colour: "red" });
    const { api_key: key } = await jsonOf<SignedUp>(reply);
    expect(await accountOf(await server.call("/v1/account", { key }))).toMatchObject({
      email: "bea@good.com",
      ...said,
    });
  });

  test("a DNS that fails refuses no signup", async () => {
    expect((await signUp({ email: "cal@servfail.com" })).status).toBe(201);
  });

  test("the key itself is not stored", async () => {
    const { api_key: key } = await jsonOf<SignedUp>(await signUp({ email: "dora@good.com" }));
    await server.call("/v1/account", { key });
    let files = 0;
    for (const name of readdirSync(server.dataDir, { recursive: true, withFileTypes: true })) {
      // The directory's first snapshot may be renamed meanwhile.
      if (!name.isFile() || name.name.endsWith(".ndjson.tmp")) continue;
      expect(readFileSync(join(name.parentPath, name.name)).includes(key)).toBe(false);
      files += 1;
    }
    expect(files).toBeGreaterThan(0);
    expect(JSON.stringify(server.logged())).not.toContain(key);
  });
});

describe("400", () => {
  test.each([
    ["no address", {}, "email is required."],
    ["a number for an address", { email: 7 }, "email must be a string of at most 1000 characters."],
    [
      "no such plan",
      { email: "x@good.com", plan: "gold" },
      "plan must be one of free, starter, growth, scale.",
    ],
    [
      "a name that is too long",
      { email: "x@good.com", name: "x".repeat(201) },
      "name must be null or a string of at most 200 characters, without control characters, line separators and direction overrides.",
    ],
  ])("%s", async (_, body, message) => {
    const { error } = await refusalBodyOf(await signUp(body));
    expect(error).toEqual({ code: "invalid_request", message });
  });

  test.each([
    ["bad syntax", "ann..bea@good.com"],
    ["a domain that does not exist", "ann@nowhere.com"],
    ["a domain that takes no mail", "ann@null.com"],
    ["a domain without mail server", "ann@nomail.com"],
    ["a throwaway domain", "ann@mailinator.com"],
    ["nothing", ""],
    ["two addresses", "ann@good.com,bea@good.com"],
    ["a line break", "ann@good.com\r\nBcc: bea@good.com"],
  ])("an address that cannot receive mail: %s", async (_, email) => {
    expect(await refusalOf(await signUp({ email }))).toBe("400 unusable_email");
  });

  test.each(["[]", "null", '"ann@good.com"', "7"])("a body that is no object: %s", async (body) => {
    expect(await refusalOf(await signUp(body))).toBe("400 invalid_request");
  });

  test("broken JSON", async () => {
    expect(await refusalOf(await signUp('{"email":'))).toBe("400 invalid_json");
    expect(await refusalOf(await signUp(new Uint8Array([0x7b, 0xff, 0x7d])))).toBe("400 invalid_json");
  });

  test.each(["name", "company", "country", "referral_code"])(
    "control characters, line separators and direction overrides in %s",
    async (field) => {
      for (const code of [0, 0x0a, 0x7f, 0x85, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069]) {
        const body = { email: "ida@good.com", [field]: `G${String.fromCharCode(code)}B` };
        expect([code, await refusalOf(await signUp(body))]).toEqual([code, "400 invalid_request"]);
      }
    },
  );

  test("a refusal does not quote what was sent", async () => {
    const sent = "s3cret@mailinator.com";
    expect(JSON.stringify(await refusalBodyOf(await signUp({ email: sent })))).not.toContain("s3cret");
    expect(JSON.stringify(server.logged())).not.toContain("s3cret");
  });
});

describe("409", () => {
  test("a mailbox has one account, in whatever case it is written", async () => {
    await signUp({ email: "eve@good.com" });
    expect(await refusalOf(await signUp({ email: "Eve@GOOD.com" }))).toBe("409 account_exists");
  });

  test("a provider's dots and tags do not make a second mailbox", async () => {
    expect((await signUp({ email: "fay.day@gmail.com" })).status).toBe(201);
    expect(await refusalOf(await signUp({ email: "FayDay+two@GMAIL.com" }))).toBe("409 account_exists");
  });

  test("of twenty signups at once with one mailbox, one opens an account", async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => signUp({ email: "gus@good.com" })));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });
});

describe("413", () => {
  test("a body of more than 128 KiB", async () => {
    expect(await refusalOf(await signUp({ email: "x".repeat(200_000) }))).toBe("413 payload_too_large");
  });
});

describe("415", () => {
  test("a body that is not said to be JSON", async () => {
    const reply = await signUp("email=ann@good.com", { "Content-Type": "text/plain" });
    expect(await refusalOf(reply)).toBe("415 unsupported_media_type");
  });
});

describe("429", () => {
  test("one address opens SIGNUPS_PER_MINUTE accounts a minute and twice as many at once, whatever it sends", async () => {
    await using strict = await startTestServer({ environment: { SIGNUPS_PER_MINUTE: "2" } });
    const statuses: string[] = [];
    for (const body of [{}, {}, {}, {}, { email: "ann@good.com" }, { email: "bea@good.com" }]) {
      const reply = await strict.call("/v1/signup", { body });
      statuses.push(await refusalOf(reply));
      if (reply.status === 429) expect(Number(reply.headers.get("retry-after"))).toBeWithin(1, 31);
    }
    expect(statuses).toEqual([
      ...Array.from({ length: 4 }, () => "400 invalid_request"),
      ...Array.from({ length: 2 }, () => "429 rate_limited"),
    ]);
    expect((await strict.call("/v1/plans")).status).toBe(200);
  });
});
