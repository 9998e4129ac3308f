import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { EmailVerification } from "../../src/verification/email/email-verification.ts";
import { emailBatchOf, emailOf } from "../support/json.ts";
import { mailRoutingRows, mailRoutingZone } from "../support/mail-routing-rows.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

const rows = mailRoutingRows().map((row) => ({ ...row, email: `jane.doe@${row.domain}` }));

let server: TestServer;
let key: string;
let single: ReadonlyMap<string, EmailVerification>;
let batch: ReadonlyMap<string, EmailVerification>;

beforeAll(async () => {
  server = await startTestServer({ zone: `good.com MX 10 mx1.hosts.com\n${mailRoutingZone}` });
  key = await server.signUp();
  const calls = rows.map(({ email }) =>
    server.call("/v1/email/verify", { key, body: { email } }).then(emailOf),
  );
  single = byEmail(await Promise.all(calls));
  const reply = await server.call("/v1/email/batch", {
    key,
    body: { emails: rows.map(({ email }) => email) },
  });
  batch = byEmail((await emailBatchOf(reply)).results);
}, 120_000);

afterAll(() => server[Symbol.asyncDispose]());

function byEmail(results: readonly EmailVerification[]): Map<string, EmailVerification> {
  return new Map(results.map((result) => [result.email, result]));
}

describe("the verdict on a plain address follows from the DNS of its domain", () => {
  test.each(rows)("$domain: $status, $subStatus", ({ email, routing, status, subStatus }) => {
    const result = single.get(email);
    expect(`${result?.status} ${result?.sub_status}`).toBe(`${status} ${subStatus}`);
    expect(result?.has_mx).toBe(routing.startsWith("mx "));
    expect(result?.mx_hosts.join(",") ?? "").toBe(
      routing.startsWith("mx ") ? (routing.split(" ")[1] ?? "") : "",
    );
  });

  test.each(rows)("$domain: a batch has the same verdict", ({ email }) => {
    expect(batch.get(email)).toEqual(single.get(email) as EmailVerification);
  });
});
