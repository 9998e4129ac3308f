import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ByteWriter } from "../../src/platform/byte-writer.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Where each of the groups ends that stand one behind the other. */
function endsOf(groups: readonly string[]): number[] {
  let end = 0;
  return groups.map((group) => {
    end += group.length;
    return end;
  });
}

/** Pieces in every way of writing them, each with its text. */
const piece = fc.oneof(
  fc.string({ unit: "binary-ascii", maxLength: 40 }).map((text) => ({
    text,
    write: (writer: ByteWriter) => writer.ascii(`<${text}>`, 1, text.length + 1),
  })),
  fc.stringMatching(/^[A-Z0-9 .*]{0,40}$/).map((text) => ({
    text: JSON.stringify(text),
    write: (writer: ByteWriter) => writer.quoted(`<${text}>`, 1, text.length + 1),
  })),
  fc.array(fc.stringMatching(/^[A-Z0-9]{1,6}$/), { minLength: 1, maxLength: 8 }).map((groups) => ({
    text: JSON.stringify(groups.join("-")),
    write: (writer: ByteWriter) => writer.grouped(groups.join(""), endsOf(groups), "-------"),
  })),
  fc.string({ unit: "grapheme", maxLength: 40 }).map((text) => ({
    text,
    write: (writer: ByteWriter) => writer.text(text),
  })),
  fc.string({ unit: "grapheme", maxLength: 60 }).map((text) => ({
    text,
    write: (writer: ByteWriter) => writer.bytes(utf8(text)),
  })),
  fc.option(fc.string({ unit: "binary", maxLength: 60 })).map((text) => ({
    text: JSON.stringify(text),
    write: (writer: ByteWriter) => writer.json(text),
  })),
  fc.integer().map((number) => ({
    text: `${number}`,
    write: (writer: ByteWriter) => writer.number(number),
  })),
);

describe("a writer of bytes", () => {
  test("writes what the pieces are together, however they are written", () => {
    const writer = new ByteWriter();
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        writer.begin();
        for (const { write } of pieces) write(writer);
        expect(textOf(writer.end())).toBe(pieces.map(({ text }) => text).join(""));
      }),
    );
  });

  test("has room for texts of any length, and forgets none of what stands before", () => {
    const writer = new ByteWriter();
    for (const length of [10, 20_000, 3_000_000, 100]) {
      writer.begin();
      writer.ascii("before", 0, "before".length);
      writer.json("x".repeat(length));
      writer.text("é".repeat(length));
      writer.bytes(utf8("behind"));
      expect(textOf(writer.end())).toBe(`before"${"x".repeat(length)}"${"é".repeat(length)}behind`);
    }
  });

  test("leaves what it has returned as it is, and begins without what did not end", () => {
    const writer = new ByteWriter();
    writer.begin();
    writer.bytes(utf8("first"));
    const first = writer.end();
    writer.begin();
    writer.bytes(utf8("never ended"));
    writer.text("nor this");
    writer.begin();
    writer.json("other");
    expect(textOf(writer.end())).toBe('"other"');
    expect(textOf(first)).toBe("first");
  });
});
