import { expect, test } from "bun:test";
import { factsIn } from "../../src/domains/known-domains.ts";
import { createDomainLists } from "../../src/domains/lists.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createTestFacts } from "../../src/test-keys/test-lookups.ts";

const OPTIONS = { dns: true, deep: false } as const;

function open(stack: AsyncDisposableStack) {
  return createTestFacts({ clock: systemClock, lists: createDomainLists() }, stack);
}

test("the first look-ups of test keys, all at once, get what the made-up DNS says, and it is kept", async () => {
  await using stack = new AsyncDisposableStack();
  const facts = open(stack);
  expect(facts.knownDomain("northwind-paper.com", OPTIONS)).toBeUndefined();
  const found = await Promise.all([
    facts.findDomain("northwind-paper.com", OPTIONS),
    facts.findDomain("parked-names.net", OPTIONS),
    facts.findDomain("silent-servers.net", OPTIONS),
  ]);
  expect(found.map((known) => factsIn(known).mail.state)).toEqual(["mx", "null_mx", "timeout"]);
  expect(facts.knownDomain("northwind-paper.com", OPTIONS)).toBe(found[0]);
});

test("look-ups that no test key asked for close without having begun", async () => {
  const stack = new AsyncDisposableStack();
  open(stack);
  await stack.disposeAsync();
  expect(stack.disposed).toBe(true);
});
