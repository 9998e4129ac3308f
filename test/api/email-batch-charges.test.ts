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
  [3_000, "is one charge", [3_000]],
  [10_000, "is one charge, as a small one more would cost as much", [10_000]],
  [18_000, "is charged in parts that are alike", [9_000, 9_000]],
])("a batch of %i items %s", async (count, _, charges) => {
  const key = await server.signUp();
  const before = chargedUnits().length;
  const emails = Array.from({ length: count }, (_each, at) => `user${at}@good.com`);
  const body = await emailBatchOf(await server.call("/v1/email/batch", { key, body: { emails } }));
  expect(body.summary.units_charged).toBe(count);
  const charged = chargedUnits().slice(before);
  // Where the machine is busy the time of the first charge comes before all of its chunks.
  const [first = 0, second = 0, ...others] = charged;
  expect(charged.length > charges.length ? [first + second, ...others] : charged).toEqual(charges);
});
