import { expect, test } from "bun:test";
import { isDisallowed, ROBOTS_RULES_MAX, robotsRules } from "../../src/net/robots.ts";

/** Which paths a robots.txt keeps an agent from, and how much of it is looked at. */

const rulesOf = (...lines: readonly string[]) => robotsRules(["User-agent: bot", ...lines].join("\n"), "bot");

test("of long rules the first are kept, for each agent its own", () => {
  const lines = Array.from({ length: ROBOTS_RULES_MAX + 1 }, (_, n) => `Disallow: /${n}/`);
  const rules = robotsRules(["User-agent: other", ...lines, "User-agent: bot", ...lines].join("\n"), "bot");
  expect(rules).toHaveLength(ROBOTS_RULES_MAX);
  expect(isDisallowed(rules, `/${ROBOTS_RULES_MAX - 1}/`)).toBe(true);
  expect(isDisallowed(rules, `/${ROBOTS_RULES_MAX}/`)).toBe(false);
});

test("the time for a name is linear in its length: slashes that no version ends in hold nobody up", () => {
  const startedMs = performance.now();
  // For each slash, a search for the end of the line stops at the separator, which is no end of a line here.
  const rules = robotsRules(`user-agent: ${"/".repeat(65_000)}\u2028x\ndisallow: /`, "bot");
  expect([rules.length, performance.now() - startedMs < 500]).toEqual([0, true]);
});

test("what follows a slash in a name is its version", () => {
  for (const name of ["bot", "BOT/1.0", "bot /1.0/x", " bot/\u2028x"]) {
    expect([name, robotsRules(`user-agent: ${name}\ndisallow: /`, "bot").length]).toEqual([name, 1]);
  }
});

test("a path of more than 2,048 characters is matched with no rule: it is asked only where none keeps out", () => {
  const path = (length: number) => "/".padEnd(length, "b");
  const rules = rulesOf("Disallow: /closed", "Allow: /b");
  expect([isDisallowed(rules, path(2048)), isDisallowed(rules, path(2049))]).toEqual([false, true]);
  expect(isDisallowed(rulesOf("Allow: /closed"), path(2049))).toBe(false);
});
