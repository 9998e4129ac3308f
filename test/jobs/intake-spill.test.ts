import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createIntake } from "../../src/jobs/intake/intake-thread.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { temporaryFolder } from "../support/process.ts";

const INTAKE_THREAD = new URL("../../workers/job-intake.ts", import.meta.url).href;
const MEBI = 1_048_576;

test("a disk that takes no rows of an input fails it with a StorageError, and the next input is read", async () => {
  using folder = temporaryFolder("intake-spill");
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  await using intake = createIntake(INTAKE_THREAD);
  const row = new TextEncoder().encode(`${"a".repeat(MEBI - 1)}\n`);
  const read = (rows: number) => {
    const bodies: Uint8Array[] = [];
    let left = rows;
    return intake.read(
      {
        ...{ tenant: "acc_1", form: "text", kind: "email", rowsMax: 1_000, bytesMax: 100 * MEBI },
        ...{ column: null, delimiter: null, encoding: null, seeds: [1, 2] },
        spillPath: join(file, "job_1.rows"),
      },
      {
        next: async () => (left-- > 0 ? new Uint8Array(row) : null),
        store(chunks) {
          for (const { n, body } of chunks) bodies[n] = body;
        },
        chunkBody: (n) => new Uint8Array(bodies[n] ?? []),
        signal: new AbortController().signal,
      },
    );
  };
  // More of them repeat another than memory holds.
  const failure = await read(20).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StorageError);
  expect(String(failure)).toContain("ENOTDIR");
  expect(await read(2)).toMatchObject({ ok: true, rows: 2, distinct: 1 });
});
