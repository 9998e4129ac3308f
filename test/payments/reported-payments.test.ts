import { expect, test } from "bun:test";
import { createPaymentReports } from "../../src/payments/reported-payments.ts";
import { handClock } from "../billing/accounting.ts";

test("a payment whose answer fails each time is reported at first, and then once an hour", () => {
  const clock = handClock();
  const reported: unknown[] = [];
  const report = createPaymentReports(clock, (error) => reported.push(error));
  for (let minute = 0; minute < 120; minute++) {
    report("payment_1", minute);
    if (minute === 30) report("payment_2", "another");
    clock.advance(60_000);
  }
  expect(reported).toEqual([0, "another", 60]);
});
