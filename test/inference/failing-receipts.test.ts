import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { until } from "../support/caller.ts";
import { openInferenceWorld } from "../support/inference-service.ts";
import { payFor } from "../support/made-up-facilitator.ts";

/** A database of receipts that takes none for a while, behind settlements that are done. */

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const BODY = { model: "made-up-1", messages: [{ role: "user", content: "hi" }] };

async function openBroken() {
  const world = await openInferenceWorld();
  const database = new Database(join(world.dataDir, "inference.db"));
  return {
    world,
    fail: () =>
      database.run(
        "CREATE TRIGGER full BEFORE INSERT ON receipts BEGIN SELECT RAISE(ABORT, 'a secret'); END",
      ),
    heal: () => database.run("DROP TRIGGER full"),
    async [Symbol.asyncDispose]() {
      database.close(true);
      await world[Symbol.asyncDispose]();
    },
  };
}

test("an answer whose receipt cannot be written is given for the same payment later, and not paid again", async () => {
  await using broken = await openBroken();
  const { world } = broken;
  for (const stream of [false, true]) {
    const before = world.facilitator.settled.size;
    const call = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...BODY, stream }),
    };
    const { "PAYMENT-SIGNATURE": signature } = payFor(await fetch(`${world.url}${CHAT}`, call));
    const paid = { ...call, headers: { ...call.headers, "PAYMENT-SIGNATURE": signature } };
    broken.fail();
    const refused = await fetch(`${world.url}${CHAT}`, paid);
    const text = await refused.text();
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([503, "false"]);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: "settlement_unknown", type: "api_error", param: null },
    });
    expect(text).not.toContain("secret");
    broken.heal();
    const answered = await fetch(`${world.url}${CHAT}`, paid);
    expect([answered.status, (await answered.text()).includes("verify_url")]).toEqual([200, true]);
    expect(world.facilitator.settled.size).toBe(before + 1);
  }
});

test("a task that is paid for goes on until its receipt is written", async () => {
  await using broken = await openBroken();
  const { world } = broken;
  broken.fail();
  const { status_url } = (await (await world.pay("/task-request", BODY)).json()) as { status_url: string };
  await until("settlement", () => world.facilitator.settled.size === 1);
  const statusOf = async () => ((await (await fetch(status_url)).json()) as { status: string }).status;
  expect(await statusOf()).toBe("running");
  broken.heal();
  await until("answer", async () => (await statusOf()) !== "running");
  expect([await statusOf(), world.facilitator.settled.size]).toEqual(["done", 1]);
});
