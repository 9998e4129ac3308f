import { expect, test } from "bun:test";
import type { Operation } from "../../src/contract/specification/operation.ts";
import { createBearerReader } from "../../src/http/bearer.ts";
import { mountRoutes } from "../../src/http/mount.ts";
import type { Route } from "../../src/http/routing.ts";
import { testBoundary } from "../support/boundary.ts";

/** Routes that answer what they were given as bearer token. */
function routesThatTell(): readonly Route[] {
  const route = (path: string, readsBearer: boolean, method: Operation["method"] = "GET"): Route => ({
    method,
    path,
    access: readsBearer ? "key" : "public",
    readsBearer,
    operation: null,
    handler: ({ bearer }) => ({ status: 200, body: JSON.stringify({ bearer }) }),
  });
  return [
    route("/keyed", true),
    route("/keyed", true, "POST"),
    route("/public", false),
    route("/keyed/:name", true),
    route("/public/:name", false),
  ];
}

const boundary = testBoundary({ readBearer: createBearerReader("unguessable") });
const app = mountRoutes(routesThatTell(), boundary);

async function bearerOf(path: string, init: RequestInit = {}): Promise<unknown> {
  const reply = await app.handle(new Request(`http://localhost${path}`, init));
  return ((await reply.json()) as { readonly bearer: unknown }).bearer;
}

test.each(["Bearer", "bearer", "BEARER", "bEaReR"])("the scheme may be written %s", async (scheme) => {
  for (const key of ["asy_1", " asy_1", "asy_1 "]) {
    expect(await bearerOf("/keyed", { headers: { Authorization: `${scheme} ${key}` } })).toBe("asy_1");
  }
});

test.each(["", "Bearer", "Bearer ", "Bearerasy_1", "Bearers asy_1", "Basic asy_1", "asy_1", "Bearer\tasy_1"])(
  "%j holds no key",
  async (header) => {
    expect(await bearerOf("/keyed", { headers: { Authorization: header } })).toBeNull();
  },
);

test("a key in the query or the body is ignored", async () => {
  const names = [
    "access_token",
    "unguessable",
    "token",
    "bearer",
    "Bearer",
    "key",
    "api_key",
    "authorization",
  ];
  for (const name of names) {
    expect(await bearerOf(`/keyed?${name}=asy_1`)).toBeNull();
    expect(await bearerOf(`/keyed?${name}=asy_1&${name}=asy_2`)).toBeNull();
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    expect(await bearerOf("/keyed", { method: "POST", headers, body: `${name}=asy_1` })).toBeNull();
    const json = { "Content-Type": "application/json" };
    const body = JSON.stringify({ [name]: "asy_1" });
    expect(await bearerOf("/keyed", { method: "POST", headers: json, body })).toBeNull();
  }
});

test("the key is read on the routes that need one, and on no other", async () => {
  const headers = { Authorization: "Bearer asy_1" };
  expect(await bearerOf("/keyed", { headers })).toBe("asy_1");
  expect(await bearerOf("/keyed/a", { headers })).toBe("asy_1");
  expect(await bearerOf("/public", { headers })).toBeNull();
  expect(await bearerOf("/public/a", { headers })).toBeNull();
});
