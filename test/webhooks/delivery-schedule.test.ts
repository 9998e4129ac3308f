import { expect, test } from "bun:test";
import {
  afterAttempt,
  type EndedAttempt,
  RETRY_DELAYS_MS,
  RETRY_WAIT_MAX_MS,
} from "../../src/webhooks/delivery-schedule.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const DAY_MS = 86_400_000;

const HOUR_MS = 3_600_000;
const NOT_FAILING = { failingSince: null, failedAt: null, failingMs: 0 };
const FAILING_NOW = { failingSince: NOW, failedAt: NOW, failingMs: 0 };

function after(change: Partial<EndedAttempt> = {}) {
  return afterAttempt({
    delivery: { scheduled: 0, url: null },
    webhook: NOT_FAILING,
    outcome: { status: 500 },
    retryAfter: null,
    at: NOW,
    random: 0,
    ...change,
  });
}

test("retries come after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, and then no more", () => {
  const seconds = RETRY_DELAYS_MS.map((_, scheduled) => {
    const { nextAttemptAt } = after({ delivery: { scheduled, url: null } });
    return ((nextAttemptAt ?? 0) - NOW) / 1000;
  });
  expect(seconds).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(after({ delivery: { scheduled: 9, url: null } })).toEqual({
    state: "failed",
    nextAttemptAt: null,
    webhook: FAILING_NOW,
  });
});

test("jitter delays a retry by at most a tenth, and never advances it", () => {
  expect(after({ random: 0.5 }).nextAttemptAt).toBe(NOW + 5_250);
  expect(after({ random: 0.999 }).nextAttemptAt).toBe(NOW + 5_500);
});

test.each([
  ["120", 120_000],
  ["1", 5_000],
  ["Fri, 20 Nov 2026 10:01:00 GMT", 60_000],
  ["Fri, 20 Nov 2026 09:00:00 GMT", 5_000],
  ["999999999", DAY_MS],
  ["soon", 5_000],
  ["-5", 5_000],
  ["2027", 2_027_000],
])("Retry-After %p delays the retry by at most a day, and never advances it", (retryAfter, waitMs) => {
  expect(after({ retryAfter, outcome: { status: 429 } }).nextAttemptAt).toBe(NOW + waitMs);
});

test.each([200, 204, 299])("%d is a success and ends the series of failures", (status) => {
  expect(after({ outcome: { status }, webhook: { failingSince: 1, failedAt: 1, failingMs: 0 } })).toEqual({
    state: "delivered",
    nextAttemptAt: null,
    webhook: { failingSince: null },
  });
});

test.each([199, 301, 302, 307, 400, 404, 429, 500])("%d is a failure", (status) => {
  expect(after({ outcome: { status } }).state).toBe("pending");
});

test("no answer is a failure", () => {
  expect(after({ outcome: { status: null } })).toEqual({
    state: "pending",
    nextAttemptAt: NOW + 5_000,
    webhook: FAILING_NOW,
  });
});

test("410 disables the webhook, but not from the address of one job", () => {
  const outcome = { status: 410 };
  expect(after({ outcome })).toEqual({
    state: "failed",
    nextAttemptAt: null,
    webhook: { ...FAILING_NOW, disabledReason: "gone" },
  });
  const once = after({ outcome, delivery: { scheduled: 0, url: "https://once.example/" } });
  expect(once).toEqual({ state: "failed", nextAttemptAt: null, webhook: {} });
});

test("five days of failures disable the webhook, and no less", () => {
  const failing = { failingSince: NOW - 5 * DAY_MS, failedAt: NOW - DAY_MS };
  const due = after({ webhook: { ...failing, failingMs: 4 * DAY_MS } });
  expect(due.webhook.disabledReason).toBe("failing");
  const early = after({ webhook: { ...failing, failingMs: 4 * DAY_MS - 1 } });
  expect([early.state, early.webhook.disabledReason]).toEqual(["pending", undefined]);
});

test("between two failures no more counts than a retry waits at most, and nothing where the clock was set back", () => {
  const failingMs = (failedAt: number | null, failingSince = NOW - 60 * DAY_MS) =>
    after({ webhook: { failingSince, failedAt, failingMs: 7 } }).webhook.failingMs;
  expect(RETRY_WAIT_MAX_MS).toBe(26.4 * HOUR_MS);
  expect(failingMs(NOW - HOUR_MS)).toBe(7 + HOUR_MS);
  expect(failingMs(NOW - 50 * DAY_MS)).toBe(7 + 26.4 * HOUR_MS);
  expect(failingMs(NOW + DAY_MS)).toBe(7);
  const ahead = { failingSince: NOW + DAY_MS, failedAt: NOW + DAY_MS, failingMs: 7 };
  expect(after({ webhook: ahead }).webhook).toEqual({ ...FAILING_NOW, failingMs: 7 });
});

test("failures of a series that has ended, or that were not counted, do not count for the next", () => {
  const failingMs = (failedAt: number | null) =>
    after({ webhook: { failingSince: NOW - HOUR_MS, failedAt, failingMs: 5 * DAY_MS } }).webhook.failingMs;
  expect([failingMs(null), failingMs(NOW - 2 * HOUR_MS)]).toEqual([HOUR_MS, HOUR_MS]);
});
