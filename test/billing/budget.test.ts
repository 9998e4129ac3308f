import { expect, test } from "bun:test";
import { budgetOf } from "../../src/billing/budget.ts";
import { formatUsd, parseUsd } from "../../src/billing/money.ts";
import type { Account, Plans } from "../../src/client/contract-types.ts";
import { jsonOf } from "../support/json.ts";
import { startFileServer } from "../support/server.ts";

const server = await startFileServer();
const { plans } = await jsonOf<Plans>(await server.call("/v1/plans"));

/** The budget of a new account of a plan whose spend limit is so far above its bill. */
async function budgetWith(plan: string, roomMicroUsd: number | null) {
  const key = await server.signUp(plan);
  const read = () => server.call("/v1/account", { key }).then((reply) => jsonOf<Account>(reply));
  const account = await read();
  if (roomMicroUsd === null) return { account, budget: budgetOf(account, plans) };
  const limit = (parseUsd(account.projected_invoice.total_usd) ?? 0) + roomMicroUsd;
  const body = { plan, spend_limit_usd: formatUsd(Math.max(0, limit)) };
  const changed = await jsonOf<Account>(await server.call("/v1/account/plan", { key, body }));
  return { account: changed, budget: budgetOf(changed, plans) };
}

test("a spend limit pays for the included units and what its rest is worth", async () => {
  // A unit of this plan costs 1,500.
  const { account, budget } = await budgetWith("starter", 4_400);
  const { included_units } = account.usage;
  expect(budget).toEqual({
    plan: "starter",
    includedUnitsLeft: included_units,
    overagePriceMicroUsd: 1_500,
    unitsLeft: included_units + 2,
  });
});

test("a spend limit below the bill leaves the included units", async () => {
  const { account, budget } = await budgetWith("starter", -1_000_000);
  expect(budget.unitsLeft).toBe(account.usage.included_units);
});

test("a hard stop leaves the included units, and a plan without either limit any number", async () => {
  const { account, budget } = await budgetWith("free", null);
  expect([budget.unitsLeft, budget.overagePriceMicroUsd]).toEqual([account.usage.included_units, null]);
  expect((await budgetWith("starter", null)).budget.unitsLeft).toBe(Number.POSITIVE_INFINITY);
});
