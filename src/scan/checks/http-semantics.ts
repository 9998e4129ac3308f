import { amountOf, challengeOf } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { type Exchange, exchangesOf, jsonOf, written } from "../evidence.ts";

export const httpSemantics: Check = {
  id: "http.semantics",
  title: "HEAD answers as GET does",
  weight: 1,
  expected: "the status and the price of GET, and JSON that is called JSON",
  fix: "Answer HEAD as GET, without the body, and JSON as application/json.",
  find(evidence) {
    const gets = exchangesOf(evidence, "resource").filter(
      ({ method, status }) => method === "GET" && status !== null,
    );
    const pairs = gets.flatMap((get) => {
      const head = exchangesOf(evidence, "resource_head").find(({ url }) => url === get.url);
      return head === undefined ? [] : [{ get, head }];
    });
    const [first] = pairs;
    if (first === undefined) return notApplicable("no paid resource is read by GET");
    const broken = pairs.find(({ head }) => head.status === null || head.status >= 500);
    if (broken !== undefined) return fail(broken.head, `HEAD ${broken.head.status ?? broken.head.failure}`);
    const free = pairs.find(({ get, head }) => {
      const prices = [priceOf(get), priceOf(head)];
      return !prices.includes(null) && prices[0] !== prices[1];
    });
    if (free !== undefined) return fail(free.head, `HEAD ${free.head.status} is charged otherwise than GET`);
    const other = pairs.find(({ get, head }) => head.status !== get.status);
    if (other !== undefined) return warn(other.head, `HEAD ${other.head.status}, GET ${other.get.status}`);
    const unnamed = gets.find(
      (get) => jsonOf(get) !== null && !/json/i.test(get.headers["content-type"] ?? ""),
    );
    if (unnamed !== undefined) {
      return warn(unnamed, `JSON as ${(unnamed.headers["content-type"] ?? "nothing").slice(0, 60)}`);
    }
    return pass(first.head, `${first.head.status}`);
  },
};

/** Returns the price that a reply names; null without one. */
function priceOf(exchange: Exchange): string | null {
  const { status } = exchange;
  if (status !== null && status >= 200 && status < 300) return "free";
  // HEAD has no body for a challenge of version 1.
  if (status !== 402 || exchange.headers["payment-required"] === undefined) return null;
  const { accepts, version } = challengeOf(exchange);
  return accepts.map((entry) => written(amountOf(entry, version))).join(" ");
}
