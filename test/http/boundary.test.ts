import { expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../../src/contract/errors.ts";
import type { Handler } from "../../src/http/call.ts";
import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";
import { testBoundary } from "../support/boundary.ts";

/** A boundary whose rate and unit headers cannot be had. */
function routeWithout(stampError: Error, handler: Handler) {
  const bugs: unknown[] = [];
  const boundary = testBoundary({
    setRateLimitHeaders: () => {
      throw stampError;
    },
    reportBug: (_, error) => bugs.push(error),
    isUnanswerable: (error) => error instanceof UnsettledError,
    refusalOf: (error) => (error instanceof StorageError ? new ApiError("storage_unavailable") : undefined),
  });
  const request = new Request("http://localhost/check");
  return { bugs, call: () => boundary.route("/check", handler)({ request }) };
}

test.each([
  ["a refusal", () => Promise.reject(new ApiError("invalid_request", "No.")), 400, "invalid_request"],
  ["a failed disk", () => Promise.reject(new StorageError("full")), 503, "storage_unavailable"],
  ["a bug", () => Promise.reject(new TypeError("no such thing")), 500, "internal_error"],
] as const)(
  "%s keeps its envelope where the database fails for the headers",
  async (_, handler, status, code) => {
    const route = routeWithout(new StorageError("SQLITE_FULL: database or disk is full"), handler);
    const reply = await route.call();
    expect(reply.status).toBe(status);
    expect(reply.headers.get("x-request-id")).toBe("req_1");
    expect(await reply.json()).toEqual({ error: { code, message: expect.any(String) } });
    expect(route.bugs).toHaveLength(status === 500 ? 1 : 0);
  },
);

test.each([
  ["a refusal", new ApiError("quota_exceeded"), 0],
  ["a failed disk", new StorageError("full"), 0],
  ["a bug", new TypeError("no such thing"), 1],
] as const)("%s that breaks a stream off is logged as a bug only where it is one", async (_, error, bugs) => {
  const route = routeWithout(new StorageError("full"), (call) => {
    call.reportError(error);
    return { status: 200, body: "{}" };
  });
  await route.call();
  expect(route.bugs).toHaveLength(bugs);
});

test("finished work is answered where the database fails for the headers", async () => {
  const route = routeWithout(new StorageError("full"), () => ({ status: 200, body: "{}" }));
  const reply = await route.call();
  expect([reply.status, await reply.text()]).toEqual([200, "{}"]);
});

test("a bug in the headers is logged, and the reply is sent", async () => {
  const bug = new TypeError("no such thing");
  const route = routeWithout(bug, () => ({ status: 200, body: "{}" }));
  expect((await route.call()).status).toBe(200);
  expect(route.bugs).toEqual([bug]);
});

test("a call whose charge is neither certain nor undone gets no reply, not even a status", async () => {
  const unsettled = new UnsettledError("the log did not reach the disk");
  const route = routeWithout(new StorageError("full"), () => Promise.reject(unsettled));
  await using server = Bun.serve({ port: 0, fetch: route.call });
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: Number(server.url.port),
    socket: {
      data: (_, bytes) => {
        text += bytes.toString();
      },
      close: () => resolve(text),
    },
  });
  socket.write("GET /check HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await promise).toBe("");
  expect(route.bugs).toEqual([unsettled]);
});

test("calls that arrive in one turn of the event loop begin together, and their time counts from then", async () => {
  const begun: string[] = [];
  const durationsMs: number[] = [];
  let nowMs = 0;
  const boundary = testBoundary({
    clock: { now: Date.now, monotonic: () => nowMs },
    report: ({ durationMs }) => durationsMs.push(durationMs),
  });
  const handler: Handler = ({ request }) => {
    begun.push(new URL(request.url).pathname);
    setImmediate(() => begun.push("the next turn"));
    return { status: 200, body: "{}" };
  };
  const enter = boundary.route("/check", handler, { gathersArrivals: true });
  const replies = ["/1", "/2", "/3"].map((path) =>
    enter({ request: new Request(`http://localhost${path}`) }),
  );
  expect(begun).toEqual([]);
  nowMs = 5;
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  expect(statuses).toEqual([200, 200, 200]);
  expect(begun).toEqual(["/1", "/2", "/3"]);
  expect(durationsMs).toEqual([5, 5, 5]);
});

test("calls whose charges are written together begin together, once nearly all are there or their group is due", async () => {
  let untilGroupMs = 0;
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const boundary = testBoundary({ untilGroupMs: () => untilGroupMs });
  const handler: Handler = async ({ request }) => {
    begun.push(new URL(request.url).pathname);
    await first.promise;
    return { status: 200, body: "{}" };
  };
  const enter = boundary.route("/check", handler, { gathersArrivals: true });
  const arrive = (path: string) => enter({ request: new Request(`http://localhost${path}`) });
  const busiest = ["/1", "/2", "/3", "/4"].map(arrive);
  first.resolve();
  await Promise.all(busiest);
  untilGroupMs = 60_000;
  const fifth = arrive("/5");
  await nextTurn();
  await nextTurn();
  const sixth = arrive("/6");
  await nextTurn();
  await nextTurn();
  expect(begun).toEqual(["/1", "/2", "/3", "/4"]);
  await Promise.all([fifth, sixth, arrive("/7")]);
  expect(begun.slice(4)).toEqual(["/5", "/6", "/7"]);
  untilGroupMs = 2;
  expect((await arrive("/8")).status).toBe(200);
});
