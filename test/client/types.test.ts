import { expect, test } from "bun:test";
import type { AccountView } from "../../src/accounts/account-view.ts";
import { createClient } from "../../src/client/client.ts";
import type * as wire from "../../src/client/contract-types.ts";
import type {
  DocumentType as ClientDocumentType,
  WebhookEvent as ClientWebhookEvent,
  DocumentReason,
} from "../../src/client/types.ts";
import type { DocumentType, IdentityReason, WebhookEvent } from "../../src/contract/words.ts";
import type { AutodetectResult, IdentityResult } from "../../src/verification/documents/outcome.ts";
import type { EmailVerification } from "../../src/verification/email/email-verification.ts";
import type { PhoneResult } from "../../src/verification/phone/phone-number.ts";
import { startTestServer } from "../support/server.ts";

/** True where both types take exactly the same values; anything else is an error of the compiler. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
type Fits<A, B> = [A] extends [B] ? true : never;

test("the types of the client are those of the server", () => {
  const same: readonly true[] = [
    true satisfies Same<wire.EmailResult, EmailVerification>,
    true satisfies Same<wire.PhoneResult, PhoneResult>,
    true satisfies Same<wire.Account, AccountView>,
    true satisfies Same<ClientDocumentType, DocumentType>,
    true satisfies Same<DocumentReason, IdentityReason>,
    true satisfies Same<ClientWebhookEvent["type"], WebhookEvent>,
    true satisfies Same<keyof wire.DocumentResult, keyof IdentityResult>,
    true satisfies Fits<IdentityResult, wire.DocumentResult>,
    true satisfies Fits<AutodetectResult, wire.DetectedDocument>,
  ];
  expect(same).not.toContain(false);
});

test("every call of the client is answered by the real server", async () => {
  await using server = await startTestServer();
  const other = createClient({ baseUrl: server.url });
  const { plans } = await other.plans();
  expect(plans.map(({ plan }) => plan)).toEqual(["free", "starter", "growth", "scale"]);
  const { api_key: apiKey } = await other.signUp({ email: "ann@good.com", plan: "growth" });
  const client = createClient({ baseUrl: server.url, apiKey });

  expect((await client.verifyEmail("bob@good.com")).status).toBe("deliverable");
  expect((await client.verifyEmail("bob@good.com", { dns: false })).sub_status).toBe("dns_not_checked");
  const emails = ["bob@good.com", "no", "bob@null.com", "bob@good.com"];
  const whole = await client.verifyEmails(emails, { deep: true });
  expect(whole.summary).toMatchObject({ undeliverable: 2, duplicates: 1, units_charged: 6 });
  const stream = client.streamEmails(emails, { idempotencyKey: null });
  const streamed = await Array.fromAsync(stream);
  expect(streamed.map(({ email, sub_status }) => [email, sub_status])).toEqual(
    whole.results.map(({ email, sub_status }) => [email, sub_status]),
  );
  expect(stream.end()?.count).toBe(4);

  const isbn = await client.validateDocument("isbn", "978-3-16-148410-0");
  expect(isbn).toMatchObject({ type: "isbn", valid: true });
  expect((await client.detectDocument("978-3-16-148410-0")).detected).toBe("isbn");
  const items = [{ type: "cpf", value: "111.111.111-11" } as const, { value: "978-3-16-148410-0" }];
  expect((await client.validateDocuments(items)).summary).toMatchObject({ valid: 1, invalid: 1 });
  expect((await Array.fromAsync(client.streamDocuments(items))).map(({ valid }) => valid)).toEqual([
    false,
    true,
  ]);

  expect((await client.validatePhone("11 98765-4321", { country: "BR" })).e164).toBe("+5511987654321");
  expect((await client.validatePhones(["+5511987654321"])).summary.valid).toBe(1);
  const phones = await Array.fromAsync(client.streamPhones(["11 98765-4321"], { country: "BR" }));
  expect(phones[0]?.valid).toBe(true);

  const account = await client.account();
  expect(account.plan).toBe("growth");
  expect(account.usage.units).toBe(20);
  expect((await client.usage({ group_by: "endpoint" })).rows).toHaveLength(8);
  expect((await client.invoices()).data).toEqual([]);
  expect((await client.changePlan({ plan: "scale", spend_limit_usd: null })).plan).toBe("scale");
  expect((await client.health()).version).toBeString();
  const { listings } = await client.listings({ limit: 1 });
  expect([await client.listing(listings[0]?.host ?? "")]).toEqual([...listings]);
  const { api_key: newKey } = await client.rotateKey();
  await expect(client.account()).rejects.toMatchObject({ status: 401, code: "bad_key" });
  expect((await createClient({ baseUrl: server.url, apiKey: newKey }).account()).plan).toBe("scale");
});
