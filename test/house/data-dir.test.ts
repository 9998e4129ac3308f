import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/caller.ts";
import { startTestServer } from "../support/server.ts";

const PAGE = join(import.meta.dir, "../../src/docs/upgrading.md");

test("the page on backups names every file of a DATA_DIR, and no other", async () => {
  await using server = await startTestServer({ environment: { PROBE: "true" } });
  await until("directory", async () => (await server.call("/v1/directory?limit=1")).status === 200);
  // The key is made with the first call that needs it.
  expect((await server.call("/.well-known/jwks.json")).status).toBe(200);
  const names = readdirSync(server.dataDir).map((name) => name.replace(/-(?:wal|shm|journal)$/, ""));
  const text = await Bun.file(PAGE).text();
  const listed = [...text.matchAll(/^- `([^`/]+)\/?`/gm)].map(([, name = ""]) => name);
  expect([...new Set(names)].toSorted()).toEqual(["assay.db", ...listed].toSorted());
});
