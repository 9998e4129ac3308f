import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createCommitSync } from "../../src/store/sqlite/connection/commit-sync.ts";

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
