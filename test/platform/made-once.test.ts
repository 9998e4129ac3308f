import { expect, test } from "bun:test";
import { madeOnce } from "../../src/platform/made-once.ts";

test("a table is made when it is first asked for, and once", () => {
  let made = 0;
  const table = madeOnce(() => new Map([["number", ++made]]));
  expect(table.known()).toBeUndefined();
  expect(made).toBe(0);
  const first = table.get();
  expect(table.get()).toBe(first);
  expect(table.known()).toBe(first);
  expect(first.get("number")).toBe(1);
});
