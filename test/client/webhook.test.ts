import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { verifyWebhook, WebhookVerificationError } from "../../src/client/webhook.ts";
import { newSecret, signedHeaders } from "../../src/webhooks/signature.ts";

const now = Date.parse("2026-11-20T10:00:00Z");
const secret = newSecret(randomBytes);
const body = JSON.stringify({
  type: "webhook.test",
  timestamp: "2026-11-20T10:00:00Z",
  data: { webhook_id: "wh_é" },
});
const headersOf = (at = now, secrets: readonly string[] = [secret]) =>
  signedHeaders({ id: "evt_1", at, body, secrets });

describe("verifyWebhook", () => {
  test("returns the event of what the server and the reference library sign", async () => {
    expect(await verifyWebhook(secret, headersOf(), body, { now })).toEqual(JSON.parse(body));
    const reference = {
      "Webhook-Id": "msg_2",
      "Webhook-Timestamp": `${now / 1000}`,
      "Webhook-Signature": new Webhook(secret).sign("msg_2", new Date(now), body),
    };
    expect(await verifyWebhook(secret, reference, body, { now })).toEqual(JSON.parse(body));
    const bytes = new TextEncoder().encode(body);
    expect(await verifyWebhook(secret, new Headers(reference), bytes, { now })).toEqual(JSON.parse(body));
  });

  test("takes any of several secrets, and any of several signatures", async () => {
    const other = newSecret(randomBytes);
    expect(await verifyWebhook([other, secret], headersOf(), body, { now })).toBeObject();
    const rotating = headersOf(now, [other, secret]);
    expect(await verifyWebhook(secret, rotating, body, { now })).toBeObject();
    const strange = { ...rotating, "webhook-signature": `v1a,x v1,%% ${rotating["webhook-signature"]}` };
    expect(await verifyWebhook(secret, strange, body, { now })).toBeObject();
  });

  test.each([
    ["another secret", newSecret(randomBytes), headersOf(), body],
    ["another body", secret, headersOf(), `${body} `],
    ["another id", secret, { ...headersOf(), "webhook-id": "evt_2" }, body],
    ["another time", secret, { ...headersOf(), "webhook-timestamp": `${now / 1000 + 1}` }, body],
    ["an attempt of long ago", secret, headersOf(now - 301_000), body],
    ["an attempt to come", secret, headersOf(now + 301_000), body],
    ["no time", secret, { ...headersOf(), "webhook-timestamp": "NaN" }, body],
    ["no signature", secret, { ...headersOf(), "webhook-signature": "" }, body],
    ["a signature of another version", secret, { ...headersOf(), "webhook-signature": "v2,AAAA" }, body],
    ["no headers", secret, {}, body],
  ])("refuses %s", async (_, with_, headers, text) => {
    const verified = verifyWebhook(with_, headers as Record<string, string>, text, { now });
    await expect(verified).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  test("keeps the tolerance that it is given", async () => {
    const late = headersOf(now - 301_000);
    expect(await verifyWebhook(secret, late, body, { now, toleranceSeconds: 400 })).toBeObject();
  });
});
