import { expect, test } from "bun:test";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { createPartFiles, type PartFiles } from "../../src/jobs/uploads/part-files.ts";
import { createParts } from "../../src/jobs/uploads/parts.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { until } from "../support/caller.ts";
import { temporaryFolder } from "../support/process.ts";

/** Files that are brought to the disk when the test says so. */
function heldFiles() {
  const begun = Promise.withResolvers<void>();
  const onDisk = Promise.withResolvers<void>();
  const files: PartFiles = {
    async create() {
      let bytes = 0;
      return {
        async write(piece) {
          bytes += piece.byteLength;
        },
        flush: async () => {},
        storedBytes: () => bytes,
        commit() {
          begun.resolve();
          return onDisk.promise;
        },
        discard: async () => {},
      };
    },
    async *read() {},
    remove: async () => {},
    left: () => [],
  };
  return { files, begun: begun.promise, onDisk };
}

async function* bytes(count: number): AsyncGenerator<Uint8Array, void, undefined> {
  yield new Uint8Array(count);
}

test("a part that is written after its job was deleted is refused, and its space is freed", async () => {
  const { files, begun, onDisk } = heldFiles();
  const parts = createParts(files, { bytesMax: 1_000 });
  const write = (jobId: string, count: number) =>
    parts.write({ accountId: "acc_a", jobId, n: 1, jobBytesMax: 1_000 }, bytes(count), async () => "{}");
  const late = write("job_1", 1_000);
  await begun;
  await parts.remove("job_1");
  onDisk.resolve();
  await expect(late).rejects.toMatchObject({ code: "job_not_ready" });
  expect(await parts.numbers("job_1")).toEqual([]);
  // All of the room is there again.
  await write("job_2", 1_000);
  expect(await parts.numbers("job_2")).toEqual([1]);
});

test("of two sendings of one part at once, the one whose bytes stay is the last whose type was noted", async () => {
  const { files, begun, onDisk } = heldFiles();
  const parts = createParts(files, { bytesMax: 1_000 });
  const noted: string[] = [];
  const send = (n: number, type: string) =>
    parts.write({ accountId: "acc_a", jobId: "job_1", n, jobBytesMax: 1_000 }, bytes(10), async () => {
      noted.push(type);
      return "{}";
    });
  const first = send(1, "csv");
  await begun;
  const others = [send(1, "text"), send(2, "csv of part 2")];
  await until("check of another part", () => noted.length > 1);
  expect(noted).toEqual(["csv", "csv of part 2"]);
  onDisk.resolve();
  await Promise.all([first, ...others]);
  expect(noted).toEqual(["csv", "csv of part 2", "text"]);
});

test("a part whose file ends early is a StorageError wherever it ends, and never a shorter part", async () => {
  using folder = temporaryFolder("parts");
  const files = createPartFiles(folder.path, () => "part.new");
  const parts = createParts(files, { bytesMax: 1_000 });
  await parts.write(
    { accountId: "acc_a", jobId: "job_1", n: 1, jobBytesMax: 1_000 },
    bytes(9),
    async () => "{}",
  );
  const path = join(folder.path, "job_1", "1");
  for (let left = statSync(path).size - 1; left > 0; left--) {
    truncateSync(path, left);
    const read = Array.fromAsync(files.read("job_1", 1));
    expect(await read.catch((error: unknown) => error)).toBeInstanceOf(StorageError);
  }
});
