import { expect, test } from "bun:test";
import fc from "fast-check";
import { requestPath } from "../../src/http/request-path.ts";

test("path and query are those of the address, with a host before them or without", () => {
  const path = fc.stringMatching(/^[/?&=a-z0-9.%-]*$/).map((text) => `/${text}`.replace(/\/+/g, "/"));
  fc.assert(
    fc.property(
      path,
      fc.constantFrom("http://a", "http://127.0.0.1:3000", "https://[::1]:8"),
      (text, origin) => {
        const { pathname, search, href } = new URL(text, "http://a");
        const written = href.slice("http://a".length);
        expect(requestPath(origin + written)).toEqual({ pathname, search });
        expect(requestPath(written)).toEqual({ pathname, search });
      },
    ),
    { numRuns: 2000 },
  );
});

test("a fragment belongs to neither path nor query", () => {
  expect(requestPath("http://a/v1?b=1#/c?d")).toEqual({ pathname: "/v1", search: "?b=1" });
});
