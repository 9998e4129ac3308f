import { expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import type { CheckView } from "../../src/contract/specification/directory/check.ts";
import { judge } from "../../src/judge/judgement.ts";
import { canonicalJson } from "../../src/signing/canonical-json.ts";
import type { PublicKey } from "../../src/signing/signing-key.ts";
import { jsonOf } from "../support/json.ts";
import { startFileServer } from "../support/server.ts";

const server = await startFileServer();

const path = (resource: string) => `/v1/check?resource=${encodeURIComponent(resource)}`;
const check = async (resource: string) => jsonOf<CheckView>(await server.call(path(resource)));

test("a listed resource has a verdict that comes again from the reply, and is signed", async () => {
  const view = await check("https://scan.example/v1/scan");
  expect(view).toMatchObject({ host: "scan.example", probes_30d: 4320, uptime_30d: 0.998, observed: null });
  expect(view.pay_to.address).toStartWith("0x");
  expect(view.price).toEqual({ listed_usd: "0.050000", observed_usd: null, drift: null });
  const { verdict, score, reasons, signature, ...rest } = view;
  expect(judge(rest)).toEqual({ verdict, score, reasons });
  const { keys } = await jsonOf<{ keys: PublicKey[] }>(await server.call("/.well-known/jwks.json"));
  const [header = "", payload = "", bytes = ""] = signature.split(".");
  const key = createPublicKey({ key: { ...keys[0] }, format: "jwk" });
  const isSigned = verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(bytes, "base64url"));
  expect([isSigned, Buffer.from(payload, "base64url").toString()]).toEqual([
    true,
    canonicalJson({ verdict, score, reasons, ...rest }),
  ]);
});

test("what is not listed is unrated, never a made-up middle score", async () => {
  for (const resource of ["https://nowhere.example/x", "https://scan.example/other", "http://127.0.0.1/x"]) {
    expect(await check(resource)).toMatchObject({
      verdict: "unrated",
      score: null,
      reasons: [{ code: "not_listed", severity: "info" }],
    });
  }
});

test("programs that look for paid calls learn that there are none here", async () => {
  const manifest = await jsonOf<object>(await server.call("/.well-known/x402"));
  expect(manifest).toMatchObject({ version: 1, resources: [] });
});

test("a fragment is no part of a resource, as no request carries it", async () => {
  const view = await check("https://scan.example/v1/scan#prices");
  expect(view).toMatchObject({ resource: "https://scan.example/v1/scan", probes_30d: 4320 });
});

test("what is no address is 400", async () => {
  for (const resource of [
    "",
    "x",
    "ftp://scan.example/",
    "javascript:alert(1)",
    "//scan.example",
    "https://",
  ]) {
    expect([resource, (await server.call(path(resource))).status]).toEqual([resource, 400]);
  }
  expect((await server.call("/v1/check")).status).toBe(400);
});

test("a verdict may be kept for a minute, and is confirmed by its tag", async () => {
  const resource = path("https://scan.example/v1/scan");
  const first = await server.call(resource);
  expect(first.headers.get("Cache-Control")).toBe("public, max-age=60");
  const headers = { "If-None-Match": first.headers.get("ETag") ?? "" };
  expect((await server.call(resource, { headers })).status).toBe(304);
  expect(await (await server.call(resource)).text()).toBe(await first.text());
});

test("a kept verdict is packed for who asks for it, and is the same for who does not", async () => {
  const resource = path("https://scan.example/v1/scan");
  const whole = await (await server.call(resource)).text();
  for (const coding of ["gzip", "identity", "gzip", ""]) {
    const reply = await server.call(resource, { headers: { "Accept-Encoding": coding } });
    const isPacked =
      reply.headers.get("Content-Encoding") === "gzip" || reply.headers.get("ETag")?.startsWith("W/");
    expect([coding, isPacked, reply.headers.get("Vary")]).toEqual([
      coding,
      coding === "gzip",
      "Accept-Encoding",
    ]);
    const bytes = new Uint8Array(await reply.arrayBuffer());
    const text = bytes[0] === 0x1f ? Bun.gunzipSync(bytes) : bytes;
    expect(Buffer.from(text).toString()).toBe(whole);
  }
});

test("listings point to the check of one of their resources", async () => {
  const { listings } = await jsonOf<{ listings: { judged_by: string }[] }>(
    await server.call("/v1/directory?limit=5"),
  );
  for (const { judged_by: judgedBy } of listings) {
    const { pathname, search } = new URL(judgedBy);
    expect(pathname).toBe("/v1/check");
    const view = await jsonOf<CheckView>(await server.call(pathname + search));
    expect(view.pay_to.address).not.toBeNull();
  }
});
