import { expect, test } from "bun:test";
import fc from "fast-check";
import { createReplyHeaders } from "../../src/http/reply-headers.ts";

const NAMES = ["X-Request-Id", "RateLimit", "Content-Type", "Allow", "X-Units-Charged"];

test("whatever replies came before, a reply has its own headers and no others", () => {
  const wanted = fc.dictionary(fc.constantFrom(...NAMES), fc.constantFrom("", "1", "2", "text/plain"));
  fc.assert(
    fc.property(fc.array(wanted, { maxLength: 12 }), (replies) => {
      const replyHeaders = createReplyHeaders();
      for (const headers of replies) {
        const written = new Response(null, { headers: replyHeaders(headers) });
        expect([...written.headers]).toEqual([...new Headers(headers)]);
      }
    }),
    { numRuns: 2000 },
  );
});

test("a reply that was made keeps its headers when the next is made", () => {
  const replyHeaders = createReplyHeaders();
  const first = new Response(null, { headers: replyHeaders({ "X-Request-Id": "one", Allow: "GET" }) });
  const second = new Response(null, { headers: replyHeaders({ "X-Request-Id": "two", Allow: "GET" }) });
  expect([first, second].map(({ headers }) => headers.get("X-Request-Id"))).toEqual(["one", "two"]);
});

test("a value that no header can have is refused, and affects no other reply", () => {
  const replyHeaders = createReplyHeaders();
  replyHeaders({ Allow: "GET", RateLimit: "1" });
  expect(() => replyHeaders({ Allow: "POST", RateLimit: "2\r\nSet-Cookie: a=b" })).toThrow(TypeError);
  const next = replyHeaders({ Allow: "GET", RateLimit: "1" });
  expect([...next]).toEqual([
    ["allow", "GET"],
    ["ratelimit", "1"],
  ]);
});
