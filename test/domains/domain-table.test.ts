import { describe, expect, test } from "bun:test";
import { createDomainTable } from "../../src/domains/domain-table.ts";
import { known } from "../batch/known-facts.ts";

const PLENTY = 1_000_000;

describe("a table of domains", () => {
  const filled = (count: number, entriesMax = count) => {
    const table = createDomainTable(entriesMax, PLENTY);
    for (let at = 0; at < count; at += 1) table.set(`${at}.com`, known(`${at}.com`));
    return table;
  };
  const held = (table: ReturnType<typeof filled>, names: readonly string[]) =>
    names.filter((name) => table.get(name) !== undefined);

  test("returns the object that was put in last, and never more than fit", () => {
    const table = filled(10_000, 100);
    expect(table.size()).toBe(100);
    const last = known("9999.com");
    table.set("9999.com", last);
    expect(table.get("9999.com")).toBe(last);
    expect(table.size()).toBe(100);
    expect(table.get("0.com")).toBeUndefined();
  });

  test("keeps what is read however many come and go", () => {
    const table = filled(100);
    const read = ["3.com", "50.com", "97.com"];
    for (let at = 0; at < 10_000; at += 1) {
      expect(held(table, read)).toEqual(read);
      table.set(`passing-${at}.com`, known(`passing-${at}.com`));
      expect(table.size()).toBe(100);
    }
  });

  test("forgets one that was read where all are read, after a bounded look", () => {
    const table = filled(1_000);
    const names = Array.from({ length: 1_000 }, (_, at) => `${at}.com`);
    expect(held(table, names)).toHaveLength(1_000);
    table.set("new.com", known("new.com"));
    expect(table.size()).toBe(1_000);
    // The first sixteen are spared, once.
    expect(held(table, names)).toHaveLength(999);
    expect(table.get("15.com")).toBeDefined();
    expect(table.get("16.com")).toBeUndefined();
    expect(table.get("new.com")).toBeDefined();
  });

  test("holds fewer where their facts are long, and none that are longer than all of it", () => {
    const table = createDomainTable(10, 400);
    for (let at = 0; at < 10; at += 1) table.set(`${at}.com`, known(`${at}.com`, "x".repeat(1_000)));
    expect(table.size()).toBe(3);
    table.set("all.com", known("all.com", "x".repeat(4_000)));
    expect(table.get("all.com")).toBeUndefined();
    expect(table.size()).toBe(3);
    table.set("9.com", known("9.com"));
    for (let at = 0; at < 20; at += 1) table.set(`short-${at}.com`, known(`short-${at}.com`));
    expect(table.size()).toBe(10);
  });

  test("can be emptied by one that fills it, and filled again", () => {
    const table = createDomainTable(10, 400);
    for (let at = 0; at < 10; at += 1) table.set(`${at}.com`, known(`${at}.com`));
    table.set("large.com", known("large.com", "x".repeat(3_600)));
    expect(table.size()).toBe(1);
    for (let at = 0; at < 10; at += 1) table.set(`${at}.com`, known(`${at}.com`));
    expect(table.size()).toBe(10);
  });
});
