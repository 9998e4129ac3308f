import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { createCommitSync } from "../../src/store/sqlite/connection/commit-sync.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { clock, signUp } from "./store-conformance.ts";

const FULL = 2;
const NORMAL = 1;

test("commits wait for the disk by default, and a change of that setting applies at once", () => {
  using database = new Database(":memory:");
  const mode = () => database.query<{ synchronous: number }, []>("PRAGMA synchronous").get()?.synchronous;
  database.run("PRAGMA synchronous = NORMAL");
  const sync = createCommitSync(database);
  expect(mode()).toBe(FULL);
  for (let round = 0; round < 5; round += 1) {
    sync.normal();
    expect(mode()).toBe(NORMAL);
    sync.full();
    expect(mode()).toBe(FULL);
  }
  sync.normal();
  sync.normal();
  sync.full();
  sync.full();
  expect(mode()).toBe(FULL);
});

test("accounts that enter a month do not wait for the disk", async () => {
  const store = openStore({ path: ":memory:", clock });
  await signUp(store, "acc_a");
  using run = spyOn(Database.prototype, "run");
  const settings: unknown[] = [];
  store.enterMonth(["acc_a"], () => {
    settings.push(run.mock.calls.at(-1)?.[0]);
    return [];
  });
  expect(settings).toEqual(["PRAGMA synchronous = NORMAL"]);
  store.close();
});

describe("after a group of charges that is brought to the disk by the next sync", () => {
  const nothing = { sums: [], replies: [], chunks: [], quotaMarks: [], keptAt: null };
  /** They write nothing, write by `record`'s own durability, or end the store. */
  const others = ["record", "sync", "requireSettled", "isOpen", "stats", "close"];
  const names = () => {
    const store = openStore({ path: ":memory:", clock });
    const found = Object.keys(store).filter((name) => !others.includes(name));
    store.close();
    return found;
  };

  test("the next group changes no setting", () => {
    const store = openStore({ path: ":memory:", clock });
    store.record(nothing, "with_sync");
    using run = spyOn(Database.prototype, "run");
    store.record(nothing, "with_sync");
    expect(run.mock.calls.flat()).toEqual([]);
    store.record(nothing, "at_once");
    expect(run.mock.calls.flat()).toEqual(["PRAGMA synchronous = FULL"]);
    store.close();
  });

  test.each(names())("%s waits for the disk", (name) => {
    const store = openStore({ path: ":memory:", clock });
    store.record(nothing, "with_sync");
    using run = spyOn(Database.prototype, "run");
    try {
      (store as unknown as Record<string, () => unknown>)[name]?.();
    } catch {
      // It misses its arguments: what counts is how it began.
    }
    expect(run.mock.calls.at(0)).toEqual(["PRAGMA synchronous = FULL"]);
    store.close();
  });
});
