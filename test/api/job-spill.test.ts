import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PART_FOLDER } from "../../src/store/data-folders.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startTestServer } from "../support/server.ts";

test("a disk that takes no rows of an input refuses its job with 503, and stores none", async () => {
  await using server = await startTestServer();
  const key = await server.signUp();
  const folder = join(server.dataDir, PART_FOLDER);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  const body = `${"a".repeat(1_048_575)}\n`.repeat(20);
  const reply = await server.call("/v1/jobs", { key, body, headers: { "Content-Type": "text/plain" } });
  expect(await refusalOf(reply)).toBe("503 storage_unavailable");
  expect(await jsonOf<{ data: unknown[] }>(await server.call("/v1/jobs", { key }))).toMatchObject({
    data: [],
  });
});
