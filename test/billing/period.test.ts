import { expect, test } from "bun:test";
import { periodOf, secondOf } from "../../src/billing/period.ts";

test.each([
  ["2026-11-20T12:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"],
  ["2026-12-31T23:59:59.999Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"],
  ["2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"],
  ["2028-02-29T00:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"],
])("%s lies in the month from %s to %s", (at, start, end) => {
  const period = periodOf(Date.parse(at));
  expect([secondOf(period.start), secondOf(period.end)]).toEqual([start, end]);
});
