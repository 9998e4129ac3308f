import { expect, test } from "bun:test";
import type { PartFiles } from "../../src/jobs/uploads/part-files.ts";
import { createParts } from "../../src/jobs/uploads/parts.ts";

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
    parts.write({ accountId: "acc_a", jobId, n: 1, jobBytesMax: 1_000 }, bytes(count), async () => {});
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
