import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RouteOptions } from "../../src/http/boundary.ts";
import { createTurnBound } from "../../src/http/turn-bound.ts";
import { testBoundary } from "../support/boundary.ts";
import { openRaw } from "../support/raw-http.ts";

test("the first calls of each turn do not wait, and the others wait for the next turn", async () => {
  const pass = createTurnBound(2);
  expect([pass(), pass()]).toEqual([null, null]);
  let isLater = false;
  const waited = pass()?.then(() => isLater);
  setImmediate(() => {
    isLater = true;
  });
  expect(waited).toBeInstanceOf(Promise);
  await waited;
  await nextTurn();
  expect(pass()).toBeNull();
});

/** The most calls of a route that begin in one turn where one connection sends thousands at once, each answered at once. */
async function mostInTurn(options: RouteOptions): Promise<number> {
  let longest = 0;
  let inTurn = 0;
  const boundary = testBoundary();
  const enter = boundary.route(
    "/",
    () => {
      if (inTurn === 0)
        setImmediate(() => {
          inTurn = 0;
        });
      inTurn += 1;
      longest = Math.max(longest, inTurn);
      return { status: 200, body: "{}" };
    },
    options,
  );
  await using server = Bun.serve({ port: 0, fetch: (request) => enter({ request }) });
  using connection = await openRaw(server.url.href);
  await connection.writeAll(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5_000)));
  await connection.closed;
  return longest;
}

test("thousands of pipelined calls leave other connections their turns", async () => {
  const longest = await mostInTurn({});
  expect(longest).toBeGreaterThan(1);
  expect(longest).toBeLessThanOrEqual(64);
});

test("so do thousands of calls that begin together", async () => {
  expect(await mostInTurn({ gathersArrivals: true })).toBeLessThanOrEqual(64);
});
