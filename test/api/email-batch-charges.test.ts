import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { emailBatchOf } from "../support/json.ts";
import { startFileServer } from "../support/server.ts";

const server = await startFileServer();

/** The units of each charge, oldest first. */
function chargedUnits(): readonly number[] {
  using database = new Database(join(server.dataDir, "assay.db"), { readonly: true });
  const rows = database
    .query<{ units: number }, []>("SELECT units FROM usage_events ORDER BY event_id")
    .all();
  return rows.map(({ units }) => units);
}

test.each([
  [1_500, "is answered whole, and charged at once", [1_500]],
  [3_000, "is charged for its first chunk, so that nothing waits, and for the rest", [1_000, 2_000]],
  [10_000, "leaves no small charge to its end", [1_000, 9_000]],
  [18_000, "is charged in parts that are alike", [1_000, 9_000, 8_000]],
])("a batch of %i items %s", async (count, _, charges) => {
  const key = await server.signUp();
  const before = chargedUnits().length;
  const emails = Array.from({ length: count }, (_each, at) => `user${at}@good.com`);
  const body = await emailBatchOf(await server.call("/v1/email/batch", { key, body: { emails } }));
  expect(body.summary.units_charged).toBe(count);
  expect(chargedUnits().slice(before)).toEqual(charges);
});
