import { challengePerResource, resourceUrlOf } from "../challenge.ts";
import { type Check, fail, notApplicable, pass, warn } from "../check.ts";
import { written } from "../evidence.ts";

export const payBinding: Check = {
  id: "pay.binding",
  title: "The challenge names the resource that was called",
  weight: 3,
  expected: "resource.url is the https address that was called, maxTimeoutSeconds from 10 to 600",
  fix: "Bind the challenge to the address of the call, and let it time out after 60 s or so.",
  find(evidence) {
    const [first] = challengePerResource(evidence);
    if (first === undefined) return notApplicable("no challenge was seen");
    const { exchange, accepts } = first;
    const named = URL.parse(written(resourceUrlOf(first) ?? ""));
    const called = new URL(exchange.url);
    if (named === null) return fail(exchange, "no resource is named");
    if (named.host !== called.host) return fail(exchange, `the challenge is of ${named.host}`);
    if (named.protocol !== "https:") return fail(exchange, "the challenge is of a plain http address");
    if (named.pathname !== called.pathname)
      return fail(exchange, `the challenge is of ${named.pathname.slice(0, 80)}`);
    const seconds = accepts.map((entry) => entry.maxTimeoutSeconds);
    const isUsual = seconds.every((value) => typeof value === "number" && value >= 10 && value <= 600);
    if (isUsual) return pass(exchange, named.href);
    return warn(exchange, `maxTimeoutSeconds ${seconds.map(written).join(", ")}`);
  },
};
