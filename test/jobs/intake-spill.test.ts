import { expect, test } from "bun:test";
import { fstatSync, ftruncateSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createIntake, type Intake } from "../../src/jobs/intake/intake-thread.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { temporaryFolder } from "../support/process.ts";

const INTAKE_THREAD = new URL("../../workers/job-intake.ts", import.meta.url).href;
const MEBI = 1_048_576;
const ROW = new TextEncoder().encode(`${"a".repeat(MEBI - 1)}\n`);

/** Reads `rows` rows of a mebibyte each, all the same. `beforeBody` runs each time that a chunk is compared. */
function readRepeated(intake: Intake, spillPath: string, rows: number, beforeBody: () => void = () => {}) {
  const bodies: Uint8Array[] = [];
  let left = rows;
  return intake.read(
    {
      ...{ tenant: "acc_1", form: "text", kind: "email", rowsMax: 1_000, bytesMax: 100 * MEBI },
      ...{ column: null, delimiter: null, encoding: null, seeds: [1, 2] },
      spillPath,
    },
    {
      next: async () => (left-- > 0 ? new Uint8Array(ROW) : null),
      store(chunks) {
        for (const { n, body } of chunks) bodies[n] = body;
      },
      chunkBody(n) {
        beforeBody();
        return new Uint8Array(bodies[n] ?? []);
      },
      signal: new AbortController().signal,
    },
  );
}

test("a disk that takes no rows of an input fails it with a StorageError, and the next input is read", async () => {
  using folder = temporaryFolder("intake-spill");
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  await using intake = createIntake(INTAKE_THREAD);
  const spillPath = join(file, "job_1.rows");
  // More of them repeat another than memory holds.
  const failure = await readRepeated(intake, spillPath, 20).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StorageError);
  expect(String(failure)).toContain("ENOTDIR");
  expect(await readRepeated(intake, spillPath, 2)).toMatchObject({ ok: true, rows: 2, distinct: 1 });
});

/** The file of rows that this process holds open; it has no name any more. */
function openSpill(path: string): number | null {
  const open = readdirSync("/proc/self/fd").find((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === `${path} (deleted)`;
    } catch {
      // It was closed meanwhile.
      return false;
    }
  });
  return open === undefined ? null : Number(open);
}

for (const [what, cut] of [
  ["ends early", (file: number) => ftruncateSync(file, 100)],
  ["was cut and written on", (file: number) => cutAndGrow(file)],
] as const) {
  test(`rows whose file ${what} fail their input with a StorageError, which the caller may send again`, async () => {
    using folder = temporaryFolder("intake-spill");
    const spillPath = join(folder.path, "job_1.rows");
    await using intake = createIntake(INTAKE_THREAD);
    const failure = await readRepeated(intake, spillPath, 20, () => {
      const file = openSpill(spillPath);
      if (file !== null) cut(file);
    }).catch((error: unknown) => error);
    expect(String(failure)).toContain("the file of them");
    expect(failure).toBeInstanceOf(StorageError);
  });
}

function cutAndGrow(file: number): void {
  const { size } = fstatSync(file);
  ftruncateSync(file, 0);
  ftruncateSync(file, size);
}
