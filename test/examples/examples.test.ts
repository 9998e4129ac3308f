import { afterAll, beforeAll, expect, test } from "bun:test";
import { hostsWithScore } from "../../src/examples/directory-walk.ts";
import { checkedForm } from "../../src/examples/documents-and-phones.ts";
import { deliverableOf } from "../../src/examples/stream-list.ts";
import { firstInvoice } from "../../src/examples/usage-and-invoice.ts";
import { adviceOn } from "../../src/examples/verify-one.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let account: { baseUrl: string; apiKey: string };
beforeAll(async () => {
  server = await startTestServer();
  account = { baseUrl: server.url, apiKey: await server.signUp() };
});
afterAll(() => server[Symbol.asyncDispose]());

test("verify-one", async () => {
  expect(await adviceOn("ann@good.com", account)).toBe("Thank you.");
  expect(await adviceOn("ann@servfail.com", account)).toBe("Thank you.");
  expect(await adviceOn("ann@null.com", account)).toBe("We cannot reach you at ann@null.com (null_mx).");
  expect(await adviceOn("ann@gmial.com", account)).toBe("Did you mean ann@gmail.com?");
});

test("stream-list", async () => {
  const emails = Array.from({ length: 5000 }, (_, i) =>
    i % 2 === 0 ? `user${i}@good.com` : `user${i}@null.com`,
  );
  const { deliverable, unitsCharged } = await deliverableOf(emails, account);
  expect(deliverable).toEqual(emails.filter((email) => email.endsWith("@good.com")));
  expect(unitsCharged).toBe(5000);
  await expect(deliverableOf(emails, account, AbortSignal.abort(new Error("enough")))).rejects.toThrow(
    "enough",
  );
});

test("documents-and-phones", async () => {
  const form = { cpf: "52998224725", phone: "(11) 98765-4321", anyNumber: "978-3-16-148410-0" };
  expect(await checkedForm(form, account)).toEqual({
    cpf: "529.982.247-25",
    phone: "+5511987654321",
    anyNumber: "isbn 978-3-16-148410-0",
  });
});

test("usage-and-invoice", async () => {
  expect(await firstInvoice(server.url, "buyer@good.com")).toMatch(/^2 units used, [\d.]+ USD so far$/);
});

test("directory-walk", async () => {
  const all = await hostsWithScore(0, server.url);
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(0);
  expect((await hostsWithScore(100, server.url)).length).toBeLessThanOrEqual(all.length);
});
