import { isDisallowed, pathOf, robotsRules } from "../../net/robots.ts";
import { type Check, fail, pass, warn } from "../check.ts";
import { type Evidence, exchangeOf } from "../evidence.ts";

export const opsSignals: Check = {
  id: "ops.signals",
  title: "The service is looked after",
  weight: 1,
  expected: "two of: robots.txt that allows the paid paths, /health with 200, security.txt",
  fix: "Serve /health, /.well-known/security.txt and a robots.txt that allows the paid paths.",
  find(evidence) {
    const robots = exchangeOf(evidence, "robots");
    const text = robots?.status === 200 ? robots.body : "";
    if (disallowsAll(text)) return fail(robots, "robots.txt disallows everything");
    const security = exchangeOf(evidence, "security");
    const signs = [
      robots?.status === 200 && !/^\s*</.test(text) && allowsPaid(evidence, text),
      exchangeOf(evidence, "health")?.status === 200,
      security?.status === 200 && /^contact:/im.test(security.body),
    ].filter(Boolean).length;
    const observed = `${signs} of 3`;
    if (signs >= 2) return pass(robots, observed);
    return signs === 1 ? warn(robots, observed) : fail(robots, observed);
  },
};

/** Whether robots.txt allows all paid resources to agents that it does not name. */
function allowsPaid({ resources }: Evidence, text: string): boolean {
  const rules = robotsRules(text, "*");
  return resources.every(({ url }) => !isDisallowed(rules, pathOf(url)));
}

function disallowsAll(text: string): boolean {
  return isDisallowed(robotsRules(text, "*"), "/");
}
