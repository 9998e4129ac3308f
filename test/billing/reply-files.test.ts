import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReplyFiles } from "../../src/billing/reply-files.ts";

test("a body takes no memory once it is written, and is read back unchanged, whatever its chunks", async () => {
  const directory = mkdtempSync(join(tmpdir(), "assay-replies-"));
  using cleanUp = new DisposableStack();
  cleanUp.defer(() => rmSync(directory, { recursive: true, force: true }));
  const files = createReplyFiles(directory, 10_000_000);
  const lengths = [1, 1_000_000, 131_072, 65_535, 70_000, 2_000_001, 10];
  const pieces = lengths.map((length) => new Uint8Array(Buffer.alloc(length, crypto.randomUUID())));
  const written = Buffer.concat(pieces);
  const body = await files.create("one", "secret", () => undefined);
  for (const piece of pieces) await body.append(piece);
  await body.finish();
  expect(Buffer.from(await new Response(files.read("one", "secret")).bytes()).equals(written)).toBeTrue();
  expect(pieces.map(({ byteLength }) => byteLength)).toEqual([1, 0, 0, 65_535, 0, 0, 10]);
});
