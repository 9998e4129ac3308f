import { expect, test } from "bun:test";
import { startTestServer } from "../support/server.ts";

test("a call is a line of the log, and a probe that finds the server well is none", async () => {
  await using server = await startTestServer();
  for (const path of ["/healthz", "/readyz", "/v1/plans", "/readyz"]) await server.call(path);
  expect((await server.call("/healthz", { body: {} })).status).toBe(405);
  const calls = server.logged().filter(({ event }) => event === "call");
  expect(calls.map(({ route, status }) => [route, status])).toEqual([
    ["/v1/plans", 200],
    ["unrouted", 405],
  ]);
});
