import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { charge, handClock, openAccounting, signUp, withDirectory } from "./accounting.ts";

/** What the log of the database takes for a page: https://www.sqlite.org/walformat.html. */
const FRAME_BYTES = 24 + 4096;

test("a charge writes three pages: its event, the counter of its plan period, and its day", () =>
  withDirectory(async (dataDir) => {
    const accounting = openAccounting({ clock: handClock(), dataDir });
    const { accountId } = signUp(accounting);
    // The first keeps the time, too.
    await charge(accounting, accountId, 1);
    const logBytes = () => statSync(join(dataDir, "assay.db-wal")).size;
    const before = logBytes();
    await charge(accounting, accountId, 1);
    expect((logBytes() - before) / FRAME_BYTES).toBe(3);
    accounting.store.close();
  }));
