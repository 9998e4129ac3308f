import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRateLimiter } from "../../src/billing/rate-limiter.ts";
import { handClock } from "./accounting.ts";

const RATE = { requestsPerSecond: 10, burst: 20 };

describe("rate limiter", () => {
  test("allows the burst at once, then one call for each interval", () => {
    const clock = handClock();
    const limiter = createRateLimiter({ clock, entriesMax: 100 });
    const passed = () =>
      Array.from({ length: 50 }, () => limiter.take("a", RATE).allowed).filter(Boolean).length;
    expect(passed()).toBe(20);
    clock.advance(99);
    expect(passed()).toBe(0);
    clock.advance(1);
    expect(passed()).toBe(1);
    clock.advance(1_000);
    expect(passed()).toBe(10);
    clock.advance(3_600_000);
    expect(passed()).toBe(20);
  });

  test("reports the calls left, the time until it is full and the Retry-After", () => {
    const clock = handClock();
    const limiter = createRateLimiter({ clock, entriesMax: 100 });
    expect(limiter.take("a", RATE)).toEqual({
      allowed: true,
      limit: 20,
      remaining: 19,
      resetSeconds: 1,
      retryAfterSeconds: 0,
    });
    for (let count = 0; count < 19; count += 1) limiter.take("a", RATE);
    expect(limiter.take("a", RATE)).toEqual({
      allowed: false,
      limit: 20,
      remaining: 0,
      resetSeconds: 2,
      retryAfterSeconds: 1,
    });
  });

  test("a caller is allowed after the whole Retry-After, and no second earlier", () => {
    const slow = { requestsPerSecond: 10 / 3_600, burst: 10 };
    const clock = handClock();
    const limiter = createRateLimiter({ clock, entriesMax: 100 });
    for (let count = 0; count < 10; count += 1) expect(limiter.take("a", slow).allowed).toBe(true);
    clock.advance(500);
    const refused = limiter.take("a", slow);
    expect(refused).toMatchObject({ allowed: false, retryAfterSeconds: 360 });
    clock.advance((refused.retryAfterSeconds - 1) * 1_000);
    expect(limiter.take("a", slow).allowed).toBe(false);
    clock.advance(1_000);
    expect(limiter.take("a", slow).allowed).toBe(true);
  });

  test("never allows more calls in any period than burst and rate", () => {
    const gaps = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 200 });
    const rate = fc.record({
      requestsPerSecond: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(gaps, rate, (gapsMs, limits) => {
        const clock = handClock();
        const limiter = createRateLimiter({ clock, entriesMax: 100 });
        const passedAt: number[] = [];
        for (const gapMs of gapsMs) {
          clock.advance(gapMs);
          const decision = limiter.take("a", limits);
          if (decision.allowed) passedAt.push(clock.monotonic());
          expect(decision.remaining).toBeGreaterThanOrEqual(0);
          expect(decision.remaining).toBeLessThanOrEqual(limits.burst - (decision.allowed ? 1 : 0));
          if (!decision.allowed) expect(decision.retryAfterSeconds).toBeGreaterThanOrEqual(1);
        }
        for (const [first, from] of passedAt.entries()) {
          for (const [last, to] of passedAt.entries()) {
            if (last < first) continue;
            const most = limits.burst + ((to - from) * limits.requestsPerSecond) / 1_000;
            expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
          }
        }
      }),
      { numRuns: 100, seed: 20_261_120 },
    );
  });

  test("accounts do not share a limit, and setting the clock changes nothing", () => {
    const clock = handClock();
    const limiter = createRateLimiter({ clock, entriesMax: 100 });
    for (let count = 0; count < 20; count += 1) limiter.take("noisy", RATE);
    expect(limiter.take("quiet", RATE).remaining).toBe(19);
    clock.set(clock.now() - 3_600_000);
    expect(limiter.take("noisy", RATE).retryAfterSeconds).toBe(1);
    clock.set(clock.now() + 7_200_000);
    expect(limiter.take("noisy", RATE).allowed).toBe(false);
    clock.advance(100);
    expect(limiter.take("noisy", RATE).allowed).toBe(true);
  });

  test("keeps a bounded number of keys, and evicts those whose burst is full first", () => {
    const clock = handClock();
    const limiter = createRateLimiter({ clock, entriesMax: 1_000 });
    for (let count = 0; count < 5_000; count += 1) limiter.take(`k${count}`, RATE);
    expect(limiter.size()).toBe(1_000);
    clock.advance(10_000);
    for (let count = 0; count < 2_000; count += 1) {
      clock.advance(200);
      limiter.take(`later${count}`, RATE);
    }
    expect(limiter.size()).toBeLessThan(10);
  });

  test.each(["abac", "aabac", "abbac", "babac"])("the sequence %s with room for two evicts b", (keys) => {
    const limiter = createRateLimiter({ clock: handClock(), entriesMax: 2 });
    for (const key of keys) limiter.take(key, RATE);
    const seen = keys.split("a").length - 1;
    expect(limiter.take("a", RATE).remaining).toBe(19 - seen);
    expect(limiter.take("b", RATE).remaining).toBe(19);
  });
});
