import { describe, expect, test } from "bun:test";
import { PHONE_OPERATIONS } from "../../src/contract/specification/verification/phone.ts";
import type { Call } from "../../src/http/call.ts";
import { onDemand } from "../../src/http/on-demand.ts";
import type { Route } from "../../src/http/routing.ts";

const call = { id: "req_1" } as unknown as Call;

function loadedRoutes(): readonly Route[] {
  return PHONE_OPERATIONS.map((operation): Route => {
    const { method, path, access } = operation;
    const handler = ({ id }: Call) => ({ status: 200, body: `${operation.operationId} ${id}` });
    return { method, path, access, operation, handler };
  }).toReversed();
}

describe("routes whose code is loaded on demand", () => {
  test("are loaded once, with the first call, and answer with their own handler", async () => {
    let loads = 0;
    const routes = onDemand(PHONE_OPERATIONS, async () => {
      loads += 1;
      return loadedRoutes();
    });
    expect(loads).toBe(0);
    expect(routes.map(({ method, path, readsBearer }) => ({ method, path, readsBearer }))).toEqual(
      PHONE_OPERATIONS.map(({ method, path }) => ({ method, path, readsBearer: true })),
    );
    const replies = await Promise.all(routes.map(({ handler }) => handler(call)));
    expect(replies.map(({ body }) => body)).toEqual(
      PHONE_OPERATIONS.map(({ operationId }) => `${operationId} req_1`),
    );
    // Then they answer at once.
    expect(routes[0]?.handler(call)).toEqual({
      status: 200,
      body: `${PHONE_OPERATIONS[0]?.operationId} req_1`,
    });
    expect(loads).toBe(1);
  });

  test("are loaded again by the next call where loading failed", async () => {
    let loads = 0;
    const [route] = onDemand(PHONE_OPERATIONS, async () => {
      loads += 1;
      if (loads === 1) throw new Error("too many open files");
      return loadedRoutes();
    });
    await expect(Promise.resolve(route?.handler(call))).rejects.toThrow("too many open files");
    expect((await route?.handler(call))?.status).toBe(200);
  });
});
