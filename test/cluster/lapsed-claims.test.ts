import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { isPostgresInstalled } from "../support/postgres.ts";
import { openTwoProcesses, type TwoProcesses } from "./two-processes.ts";

if (!isPostgresInstalled) {
  test.skip("SKIPPED: PostgreSQL is not installed, so claims of keys are not tested", () => {});
}

describe.if(isPostgresInstalled)("claims of keys after the database was away", () => {
  let processes: TwoProcesses;

  beforeAll(async () => {
    processes = await openTwoProcesses();
  }, 60_000);
  beforeEach(() => processes.reset());
  afterAll(() => processes?.[Symbol.asyncDispose]());

  /** Lets the leases of all claims be over since then. */
  async function lapse(sinceMs: number): Promise<void> {
    await processes.sql`UPDATE idempotency_claims
      SET lease_until = extract(epoch from clock_timestamp()) * 1000 - ${sinceMs}::bigint`;
  }

  async function holders(): Promise<readonly string[]> {
    const rows = await processes.sql`SELECT process_id AS holder FROM idempotency_claims`;
    return rows.map(({ holder }: { readonly holder: string }) => holder);
  }

  test("stay with the call of another node that goes on, however late that renews them", async () => {
    const { one, two } = processes;
    await one.claimKey("acc_a", "k1", "f");
    await lapse(120_000);
    await two.renewClaims();
    expect(await holders()).toEqual(["one"]);
    await one.renewClaims();
    expect(await two.claimKey("acc_a", "k1", "f")).toEqual({ isClaimed: false, fingerprint: "f" });
  });

  test("go to a call that repeats one whose node is gone, and are removed after ten minutes", async () => {
    const { one, two } = processes;
    await one.claimKey("acc_a", "k1", "f");
    await lapse(1_000);
    expect(await two.claimKey("acc_a", "k1", "f")).toEqual({ isClaimed: true });
    expect(await holders()).toEqual(["two"]);
    await lapse(601_000);
    await one.renewClaims();
    expect(await holders()).toEqual([]);
  });
});
