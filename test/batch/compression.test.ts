import { describe, expect, test } from "bun:test";
import { crc32, gunzipSync, zstdDecompressSync } from "node:zlib";
import fc from "fast-check";
import { combinedCrc32, compressChunk, createReplyWriter } from "../../src/batch/compression.ts";

const encoder = new TextEncoder();

describe("chunks compressed apart", () => {
  test.each([
    ["gzip", gunzipSync],
    ["zstd", zstdDecompressSync],
  ] as const)("make one %s body, whatever came compressed and what as text", (encoding, decode) => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "grapheme", maxLength: 500 }), fc.boolean()), { maxLength: 8 }),
        (texts) => {
          const writer = createReplyWriter(encoding);
          const parts = [writer.text(encoder.encode("["))];
          for (const [text, isCompressed] of texts) {
            const chunk = { bytes: encoder.encode(text), counts: {}, chargeable: 0, failures: 0 };
            parts.push(writer.chunk(isCompressed ? compressChunk(chunk, encoding) : chunk));
          }
          parts.push(writer.text(encoder.encode("]")), writer.end());
          const expected = `[${texts.map(([text]) => text).join("")}]`;
          expect(decode(Buffer.concat(parts)).toString()).toBe(Buffer.from(expected).toString());
        },
      ),
      { numRuns: 300 },
    );
  });

  test("are text as it is where no encoding is asked for", () => {
    const writer = createReplyWriter(null);
    const chunk = { bytes: encoder.encode("b"), counts: {}, chargeable: 0, failures: 0 };
    const parts = [writer.text(encoder.encode("a")), writer.chunk(chunk), writer.end()];
    expect(Buffer.concat(parts).toString()).toBe("ab");
  });
});

test("the CRC-32 of two texts comes from those of each", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 }), (one, other) => {
      const after = { crc32: crc32(other), byteLength: other.byteLength };
      expect(combinedCrc32(crc32(one), after)).toBe(crc32(Buffer.concat([one, other])));
    }),
  );
  const zeros = new Uint8Array(5_000_000);
  const after = { crc32: crc32(zeros), byteLength: zeros.byteLength };
  expect(combinedCrc32(crc32("x"), after)).toBe(crc32(Buffer.concat([Buffer.from("x"), zeros])));
});
