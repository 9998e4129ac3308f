import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { newSecret, signedHeaders } from "../../src/webhooks/signature.ts";

const body = JSON.stringify({ type: "webhook.test", timestamp: "2026-11-20T10:00:00Z", data: { é: "ü" } });

test("a secret is whsec_ and the base64 of 24 to 64 bytes, another each time", () => {
  const [first, second] = [newSecret(randomBytes), newSecret(randomBytes)];
  expect(first).toMatch(/^whsec_[0-9A-Za-z+/]+={0,2}$/);
  const bytes = Buffer.from(first.slice(6), "base64").length;
  expect(bytes).toBeGreaterThanOrEqual(24);
  expect(bytes).toBeLessThanOrEqual(64);
  expect(second).not.toBe(first);
});

test("the reference library verifies the headers, with either secret while one rotates", () => {
  const secrets = [newSecret(randomBytes), newSecret(randomBytes)];
  const headers = signedHeaders({ id: "evt_1", at: Date.now(), body, secrets });
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  const other = new Webhook(newSecret(randomBytes));
  expect(() => other.verify(body, headers)).toThrow();
  expect(() => new Webhook(secrets[0] ?? "").verify(`${body} `, headers)).toThrow();
});

test("the headers are the ones that the reference library signs", () => {
  const secret = newSecret(randomBytes);
  const at = Date.parse("2026-11-20T10:00:00.900Z");
  expect(signedHeaders({ id: "evt_2", at, body, secrets: [secret] })).toEqual({
    "webhook-id": "evt_2",
    "webhook-timestamp": "1795168800",
    "webhook-signature": new Webhook(secret).sign("evt_2", new Date(at), body),
  });
});
