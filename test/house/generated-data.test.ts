import { expect, test } from "bun:test";
import { join } from "node:path";
import { allTables } from "../../src/tools/data-refresh/all-tables.ts";

const ROOT = join(import.meta.dir, "../..");

test.each(allTables.map((table) => [table.path, table] as const))(
  "%s is what its sources make of it (else: bun run data:refresh)",
  async (path, table) => {
    const built = await table.build();
    expect(Bun.hash(await Bun.file(join(ROOT, path)).text())).toBe(Bun.hash(built));
  },
  120_000,
);
