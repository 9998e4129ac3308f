import { describe, expect, test } from "bun:test";
import { until } from "../support/caller.ts";
import { keyOf } from "../support/json.ts";
import { isPostgresInstalled } from "../support/postgres.ts";
import { refusalOf, startTestServer } from "../support/server.ts";
import { openTwoProcesses } from "./two-processes.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so rotations of nodes that died are not tested", () => {});
}

describe.if(isPostgresInstalled)("a rotation whose node died behind its commit", () => {
  test("is 409 to the key that it ended while the claim of that node lasts, and then replayed to it", async () => {
    await using processes = await openTwoProcesses();
    const { sql, url } = processes;
    await using server = await startTestServer({ environment: { DATABASE_URL: url } });
    const key = await server.signUp();
    const rotate = (idempotencyKey: string) =>
      server.call("/v1/account/keys/rotate", {
        key,
        body: {},
        headers: { "Idempotency-Key": idempotencyKey },
      });
    let lost: Promise<Response> | undefined;
    await sql`CREATE TABLE kept_claims AS SELECT * FROM idempotency_claims`;
    await sql.begin(async (transaction) => {
      await transaction`SELECT 1 FROM accounts FOR UPDATE`;
      lost = rotate("k");
      const claims = () =>
        transaction`INSERT INTO kept_claims SELECT * FROM idempotency_claims RETURNING process_id`;
      await until("the claim", async () => (await claims()).length > 0);
    });
    const newKey = await keyOf((await lost) ?? new Response());
    const released = async () => (await sql`SELECT 1 FROM idempotency_claims`).length === 0;
    await until("the end of the call", released);
    const leaseUntil = Date.now() + 86_400_000;
    await sql`UPDATE kept_claims SET process_id = 'gone', lease_until = ${leaseUntil}`;
    await sql`INSERT INTO idempotency_claims SELECT * FROM kept_claims`;

    const early = await rotate("k");
    expect(early.headers.get("retry-after")).toBe("1");
    expect(await refusalOf(early)).toBe("409 idempotency_in_progress");
    expect(await refusalOf(await rotate("another"))).toBe("401 bad_key");
    await sql`UPDATE idempotency_claims SET lease_until = 0`;
    const later = await rotate("k");
    expect([later.status, later.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
    expect(await keyOf(later)).toBe(newKey);
  }, 60_000);
});
