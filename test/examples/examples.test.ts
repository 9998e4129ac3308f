import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { hostsWithScore } from "../../src/examples/directory-walk.ts";
import { checkedForm } from "../../src/examples/documents-and-phones.ts";
import { deliverableOf } from "../../src/examples/stream-list.ts";
import { firstInvoice } from "../../src/examples/usage-and-invoice.ts";
import { adviceOn } from "../../src/examples/verify-one.ts";
import { jsonOf } from "../support/json.ts";
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
  expect(await firstInvoice(server.url, "buyer@good.com")).toMatch(/^units used: 2; [\d.]+ USD so far$/);
});

test("directory-walk", async () => {
  const all = await hostsWithScore(0, server.url);
  expect(new Set(all).size).toBe(all.length);
  const { total } = await jsonOf<{ total: number }>(await server.call("/v1/directory?limit=1"));
  expect(all.length).toBe(total);
  expect((await hostsWithScore(100, server.url)).length).toBeLessThanOrEqual(all.length);
});

describe("each runs by itself", () => {
  const run = async (name: string, args: readonly string[], env: { readonly [name: string]: string }) => {
    const child = Bun.spawn([process.execPath, `src/examples/${name}.ts`, ...args], {
      cwd: join(import.meta.dir, "../.."),
      env: { PATH: process.env.PATH ?? "", ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { exitCode: await child.exited, stdout: stdout.trim(), stderr: stderr.trim() };
  };

  test.each([
    ["verify-one", ["ann@gmial.com"], /^Did you mean ann@gmail\.com\?$/],
    ["stream-list", ["ann@good.com", "ann@null.com"], /^deliverable: ann@good\.com; units charged: 2$/],
    ["documents-and-phones", [], /"phone": "\+5511987654321"/],
    ["usage-and-invoice", ["runner@good.com"], /^units used: 2; [\d.]+ USD so far$/],
    ["directory-walk", [], /\w/],
  ])("%s, and says what it needs", async (name, args, printed) => {
    const env = { ASSAY_URL: account.baseUrl, ASSAY_API_KEY: account.apiKey };
    expect(await run(name, args, env)).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(printed),
      stderr: "",
    });
    const without = await run(name, args, {});
    expect(without).toMatchObject({ exitCode: 1, stdout: "" });
    expect(without.stderr).toBe("Set ASSAY_URL to the address of a server, such as http://127.0.0.1:3000.");
  });

  test("a missing key is named, with the call that gets one", async () => {
    const { exitCode, stderr } = await run("verify-one", [], { ASSAY_URL: account.baseUrl });
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith(`Set ASSAY_API_KEY to a key of ${account.baseUrl}; one call gets it: curl -s`);
  });
});
