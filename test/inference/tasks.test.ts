import { expect, test } from "bun:test";
import { createTasks } from "../../src/inference/tasks.ts";
import type { PaidCall, PaidReply, Payment } from "../../src/payments/paid-call.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";
import { handClock } from "../billing/accounting.ts";
import { until } from "../support/caller.ts";

const PAYMENT: Payment = {
  ...{ paymentId: "payment_1", x402Version: 2, network: "eip155:8453", payer: "0xa", payTo: "0xb" },
  ...{ asset: "0xc", amountMicroUsd: 10_000, nonce: "0xd" },
};

const refusal = (code: string): PaidReply => ({
  status: 503,
  headers: {},
  body: JSON.stringify({ error: { code, message: "Later." } }),
});

test("a task whose payment has no known outcome waits twice as long for each try, up to five minutes", async () => {
  const clock = handClock();
  using database = openInferenceDatabase(null, clock);
  const done: PaidReply = { status: 200, headers: {}, body: "{}" };
  const [unknown, busy] = [refusal("settlement_unknown"), refusal("overloaded")];
  const replies = [...Array<PaidReply>(10).fill(unknown), busy, busy, unknown, done];
  const waits: number[] = [];
  const problems: unknown[] = [];
  const work: PaidCall["work"] = async () => ({ kind: "answer", ...done, body: "{}" });
  await using tasks = createTasks({
    store: database.tasks,
    payments: {
      async take(call) {
        await call.work(PAYMENT);
        return replies.shift() ?? done;
      },
    },
    clock,
    secret: "a".repeat(64),
    reportError: (error) => problems.push(error),
    async pause(ms) {
      waits.push(ms / 1_000);
      clock.advance(ms);
    },
    workOf: () => ({ work }),
    statusUrlOf: (_call, taskId) => taskId,
  });
  const resource = { url: "http://localhost/", description: "", mimeType: "" };
  const offer = { resource, priceMicroUsd: 10_000 };
  await tasks.take({ headers: new Headers(), offer, request: "call", work });
  await until("the end of the task", () => tasks.running() === 0);
  expect(problems).toEqual([]);
  expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 2, 2, 2]);
  expect(database.tasks.running(9)).toEqual([]);
});
