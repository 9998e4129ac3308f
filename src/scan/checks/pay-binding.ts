import { challengePerResource, resourceUrlOf, type SeenChallenge } from "../challenge.ts";
import { type Check, type Finding, fail, notApplicable, pass, warn, worst } from "../check.ts";
import { written } from "../evidence.ts";

export const payBinding: Check = {
  id: "pay.binding",
  title: "The challenge names the resource that was called",
  weight: 3,
  expected: "resource.url is the https address that was called, maxTimeoutSeconds from 10 to 600",
  fix: "Bind the challenge to the address of the call, and let it time out after 60 s or so.",
  find: (evidence) =>
    worst(challengePerResource(evidence).map(judge)) ?? notApplicable("no challenge was seen"),
};

function judge(challenge: SeenChallenge): Finding {
  const { exchange, accepts } = challenge;
  const seconds = accepts.map((entry) => entry.maxTimeoutSeconds);
  const isUsual = seconds.every((value) => typeof value === "number" && value >= 10 && value <= 600);
  const text = resourceUrlOf(challenge);
  const called = new URL(exchange.redirectedTo ?? exchange.url);
  const named = typeof text === "string" ? URL.parse(text, called.href) : null;
  if (named === null) return warn(exchange, "no resource is named");
  if (named.host !== called.host) return fail(exchange, `the challenge is of ${named.host}`);
  if (named.protocol !== "https:") return fail(exchange, "the challenge is of a plain http address");
  if (named.pathname !== called.pathname)
    return warn(exchange, `the challenge is of ${named.pathname.slice(0, 80)}`);
  if (URL.parse(String(text)) === null) return warn(exchange, "the resource is named by its path alone");
  return isUsual
    ? pass(exchange, named.href)
    : warn(exchange, `maxTimeoutSeconds ${seconds.map(written).join(", ")}`);
}
