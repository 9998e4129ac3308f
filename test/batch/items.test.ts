import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readItems } from "../../src/batch/body-items.ts";
import { ITEM_UNITS_MAX, type Items, readTexts } from "../../src/batch/items.ts";
import { documentsWithin, readDocuments } from "../../src/batch/plain-documents.ts";
import { readPlainList } from "../../src/batch/plain-list.ts";
import { DOCUMENT_TYPES } from "../../src/contract/words.ts";

const ITEMS_MAX = 1_000;

const positionsOf = ({ count }: Items) => Array.from({ length: count }, (_, at) => at);
const textsIn = (items: Items) =>
  positionsOf(items).map((at) => items.source(at).slice(items.start(at), items.end(at)));

/** The same JSON as writers have it that escape all that is not ASCII. */
const inAscii = (json: string) =>
  json.replace(/[^ -~\s]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const awkward = fc.constantFrom(
  "",
  ",",
  '","',
  '"',
  "\\",
  "[",
  "]",
  "a@b.com",
  "\u2028",
  "é@b.com",
  "\\u00e9@b.com",
  "\\\\u0416\u0416",
  "emails",
);
const text = fc.oneof(awkward, fc.string({ unit: "binary", maxLength: 8 }), fc.emailAddress());
const plain = fc.oneof(fc.constantFrom("", ",", " ", "]}", "emails", "a@b.com"), fc.emailAddress());

describe("the texts of a chunk", () => {
  test("are read as they were written, whatever they contain", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, plain), { maxLength: 30 }), (texts) => {
        const items = readTexts(JSON.stringify(texts), texts.length);
        expect(textsIn(items)).toEqual(texts);
        expect(positionsOf(items).map(items.identity)).toEqual(texts);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a list in a JSON body", () => {
  const mostly = (usual: readonly string[], ...odd: readonly string[]) =>
    fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...usual) }, fc.constantFrom(...odd));
  const spaces = mostly(["", " ", "\n", "\r\n\t"], "\u00a0", "\f");
  const separator = fc.tuple(spaces, spaces).map(([before, after]) => `${before},${after}`);
  const tails = mostly(
    ["}", ' , "dns": false}'],
    ...[',"emails":[]}', ',"emails":["x"]}', ',"x":"emails"}', "", "}}", ",1]"],
  );
  const heads = mostly(["{", ' { "deep":true,'], '{"x":"emails",', '{"x":{"emails":["y"]},', "[{", "");
  const values = fc.oneof(
    { weight: 25, arbitrary: plain.map((value) => JSON.stringify(value)) },
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom("1", "null", '"\t"', '"', '"a" "b"', ""),
  );

  function parsed(body: string): { texts: readonly unknown[]; object: object } | null {
    try {
      const object = JSON.parse(body);
      return Array.isArray(object?.emails) ? { texts: object.emails, object } : null;
    } catch {
      return null;
    }
  }

  test("is read without a parser only where a parser reads the same", () => {
    let readPlain = 0;
    const list = fc.tuple(fc.array(values, { maxLength: 5 }), separator);
    fc.assert(
      fc.property(
        heads,
        list,
        fc.tuple(spaces, spaces, spaces),
        tails,
        (head, [texts, comma], [first, second, last], tail) => {
          const body = `${head}"emails"${first}:${second}[${first}${texts.join(comma)}${last}]${tail}`;
          const found = readPlainList(body, "emails", ITEMS_MAX);
          if (found === null) return;
          readPlain += 1;
          const expected = parsed(body);
          expect(textsIn(found.items)).toEqual(expected?.texts as string[]);
          expect(found.object).toEqual({ ...expected?.object, emails: [] });
          for (const [start, end] of [
            [0, 1],
            [1, found.items.count],
            [0, found.items.count],
          ] as const) {
            if (start >= end) continue;
            expect(JSON.parse(found.items.json(start, end))).toEqual(
              expected?.texts.slice(start, end) as string[],
            );
          }
        },
      ),
      { numRuns: 20_000 },
    );
    expect(readPlain).toBeGreaterThan(5_000);
  });

  test("is read alike by every reader, as machines write it and as they do not", () => {
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 12 }),
        fc.constantFrom(0, 1),
        fc.boolean(),
        (texts, indent, isAscii) => {
          const json = JSON.stringify({ emails: texts, dns: false }, null, indent);
          const body = Buffer.from(isAscii ? inAscii(json) : json);
          const outcome = readItems("email", "json", body, ITEMS_MAX);
          if (!outcome.ok) throw new Error(outcome.message);
          // What is no text in UTF-8 arrives as another.
          expect(textsIn(outcome.items)).toEqual(JSON.parse(body.toString()).emails);
          expect(outcome.options).toEqual({ dns: false });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("with spaces behind its commas, as Python writes it, needs no parser", () => {
    const body = '{"emails": ["a@b.com", "c@d.com", ""], "deep": true}';
    const found = readPlainList(body, "emails", ITEMS_MAX);
    expect(found && textsIn(found.items)).toEqual(["a@b.com", "c@d.com", ""]);
    expect(found && textsIn(readTexts(found.items.json(1, 3), 2))).toEqual(["c@d.com", ""]);
  });

  test("with escaped letters is read as with the letters, and they are none outside of texts", () => {
    const body = (text: string) => readItems("email", "json", Buffer.from(text), 9);
    const escaped = body('{"emails":["\\u00e9@b.com","\\u0416\\u4e2d\\ud83d\\ude00","\\\\u00e9","\\u0041"]}');
    expect(escaped.ok && textsIn(escaped.items)).toEqual(["é@b.com", "Ж中😀", "\\u00e9", "A"]);
    for (const text of ['{"emails":\\u005b"a"]}', '{"emails":\\u00a0["a"]}', '{"emails":["a"],\\u00e9:1}'])
      expect(body(text)).toMatchObject({ code: "invalid_json" });
  });

  test("is read to its end wherever that is, up to as many items as are allowed", () => {
    const emails = Array.from({ length: 1_002 }, (_, at) => `a${at}@b.com`);
    for (const length of [1, 2, 499, 500, 501, 502, 999, 1_000, 1_001, 1_002]) {
      const body = JSON.stringify({ emails: emails.slice(0, length) });
      const found = readPlainList(body, "emails", ITEMS_MAX);
      expect(found && textsIn(found.items)).toEqual(length > ITEMS_MAX ? null : emails.slice(0, length));
    }
  });

  test("that is longer than allowed is refused, and so is one in a body that is no JSON", () => {
    const body = (text: string) => readItems("email", "json", Buffer.from(text), 2);
    expect(body('{"emails":["a","b"]}').ok).toBe(true);
    expect(body('{"emails":["a","b","c"]}')).toMatchObject({ code: "batch_too_large" });
    expect(body('{"emails":["a","b]}')).toMatchObject({ code: "invalid_json" });
    expect(body('{"emails":["a\tb"]}')).toMatchObject({ code: "invalid_json" });
    expect(body('{"emails":["a"],"dns":1}')).toMatchObject({ code: "invalid_request" });
    expect(body('{"emails":["a",1]}')).toMatchObject({ message: "emails[1] must be a string." });
  });
});

describe("lines", () => {
  const ends = fc.oneof(
    { weight: 12, arbitrary: fc.constant("\n") },
    fc.constantFrom("\r\n", "\n\n", "\n \t\n", "\r\r\n", "\n\u00a0\n", ""),
  );
  const strings = fc.oneof(
    { weight: 30, arbitrary: plain.map((value) => JSON.stringify(value)) },
    text.map((value) => JSON.stringify(value)),
    fc.constantFrom('{"email":"a@b.com"}', ' "a@b.com"', '"a" ', '"a","b"', '"a\tb"', '"', "1", '"a'),
  );
  const texts = fc.oneof(
    { weight: 10, arbitrary: plain },
    text,
    fc.constantFrom(" a@b.com ", "a\rb", '"a@b.com"', "\\n", "\f", "\u0085a"),
  );

  /** What a line of each form says, by the book: null where it is no item. */
  const saidBy = {
    text: (line: string): string | null => line,
    ndjson(line: string): string | null {
      try {
        const value = JSON.parse(line);
        const said = typeof value === "object" ? value?.email : value;
        return typeof said === "string" ? said : null;
      } catch {
        return null;
      }
    },
  };

  test.each([
    ["text", texts],
    ["ndjson", strings],
  ] as const)("are each the item that they say, and blank ones none: %s", (form, lines) => {
    let read = 0;
    fc.assert(
      fc.property(fc.array(fc.tuple(lines, ends), { maxLength: 12 }), fc.integer(), (parts, cut) => {
        const body = Buffer.from(parts.flat().join(""));
        const said = body
          .toString()
          .split("\n")
          .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
          .filter((line) => line.trim() !== "")
          .map(saidBy[form]);
        const outcome = readItems("email", form, body, ITEMS_MAX);
        expect(outcome.ok).toBe(!said.includes(null));
        if (!outcome.ok) return;
        read += 1;
        const { items } = outcome;
        expect(textsIn(items)).toEqual(said as string[]);
        expect(positionsOf(items).map(items.identity)).toEqual(said as string[]);
        const middle = Math.abs(cut) % (items.count + 1);
        for (const [start, end] of [
          [0, middle],
          [middle, items.count],
        ] as const) {
          if (start < end) expect(JSON.parse(items.json(start, end))).toEqual(said.slice(start, end));
        }
      }),
      { numRuns: 5_000 },
    );
    expect(read).toBeGreaterThan(1_000);
  });

  test("are as many as are allowed, and one more is refused", () => {
    for (const count of [1, 499, 500, 501, 1_000, 1_001]) {
      const emails = Array.from({ length: count }, (_, at) => `a${at}@b.com`);
      for (const [form, body] of [
        ["text", `${emails.join("\r\n")}\n\n`],
        ["ndjson", emails.map((email) => JSON.stringify(email)).join("\n")],
      ] as const) {
        const outcome = readItems("email", form, Buffer.from(body), ITEMS_MAX);
        if (count > ITEMS_MAX) expect(outcome).toMatchObject({ code: "batch_too_large" });
        else expect(outcome.ok && textsIn(outcome.items)).toEqual(emails);
      }
    }
  });
});

describe("a list of documents in a JSON body", () => {
  const types = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom(...DOCUMENT_TYPES) },
    fc.constantFrom("", "CPF", "cp\tf", "constructor"),
  );
  const spaces = fc.oneof(
    { weight: 40, arbitrary: fc.constant(" ") },
    fc.constantFrom("", "\n", "\u00a0", "\f"),
  );
  const values = fc.oneof(
    { weight: 30, arbitrary: plain },
    fc.constantFrom("\t", "\u0000", "é", "\ud83d\ude00", '"'),
  );
  const tails = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom("]}", '],"more":true}') },
    fc.constantFrom(
      "",
      "]",
      ",5]}",
      ",]}",
      '],"items":[]}',
      ',{"value":"1"}]}',
      ',{"type":"ein","value":"1","value":"2"}]}',
    ),
  );
  const documents = fc.array(fc.tuple(types, values, spaces), { minLength: 1, maxLength: 5 });

  function parsed(body: string): readonly { readonly type: string; readonly value: string }[] | null {
    try {
      return JSON.parse(body).items;
    } catch {
      return null;
    }
  }

  test("is read without a parser only where a parser reads the same", () => {
    let readPlain = 0;
    fc.assert(
      fc.property(documents, tails, (list, tail) => {
        const texts = list.map(
          ([type, value, space]) => `{"type":${space}"${type}","value":${space}"${value}"${space}}`,
        );
        const body = `{"items":[${texts.join(", ")}${tail}`;
        const found = readPlainList(body, "items", ITEMS_MAX, documentsWithin);
        if (found === null) return;
        readPlain += 1;
        const expected = parsed(body) ?? [];
        expect(textsIn(found.items)).toEqual(expected.map(({ value }) => value));
        for (let start = 0; start < expected.length; start++) {
          const count = expected.length - start;
          const documentAt = readDocuments(found.items.json(start, expected.length), count);
          expect(Array.from({ length: count }, (_, at) => documentAt(at))).toEqual(
            expected.slice(start).map(({ type, value }) => [type, value] as never),
          );
        }
      }),
      { numRuns: 5_000 },
    );
    expect(readPlain).toBeGreaterThan(500);
  });

  test("is read alike by every reader, and so are its chunks", () => {
    const document = fc.record(
      { type: fc.constantFrom(...DOCUMENT_TYPES), value: fc.oneof({ weight: 9, arbitrary: plain }, text) },
      { requiredKeys: ["value"] },
    );
    fc.assert(
      fc.property(
        fc.array(document, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(0, 1),
        (list, indent) => {
          const body = Buffer.from(JSON.stringify({ items: list }, null, indent));
          const outcome = readItems("identity", "json", body, ITEMS_MAX);
          if (!outcome.ok) throw new Error(outcome.message);
          const expected = parsed(body.toString()) ?? [];
          const documentAt = readDocuments(outcome.items.json(0, list.length), list.length);
          expect(positionsOf(outcome.items).map(documentAt)).toEqual(
            expected.map(({ type = null, value }) => [type, value] as never),
          );
          const sameTwice = new Set(expected.map((each) => JSON.stringify(each))).size;
          expect(new Set(positionsOf(outcome.items).map(outcome.items.identity)).size).toBe(sameTwice);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("that is long keeps its types where its values are shortened", () => {
    const list = [
      { type: "ein", value: `${"1".repeat(ITEM_UNITS_MAX)}2` },
      { type: "cpf", value: "1" },
    ];
    const read = readItems("identity", "json", Buffer.from(JSON.stringify({ items: list })), ITEMS_MAX);
    if (!read.ok) throw new Error(read.message);
    const documentAt = readDocuments(read.items.json(0, 2), 2);
    expect([documentAt(0), documentAt(1)]).toEqual([
      ["ein", "1".repeat(ITEM_UNITS_MAX)],
      ["cpf", "1"],
    ]);
  });
});

describe("an item that is longer than is shown", () => {
  const [long, other] = [`${"x".repeat(ITEM_UNITS_MAX)}y`, `${"x".repeat(ITEM_UNITS_MAX)}z`];
  const bodies = [
    ["json", JSON.stringify({ emails: ["a@b.com", long, other, long] })],
    ["json", JSON.stringify({ emails: ["a@b.com", long, other, long], name: "\n" })],
    ["ndjson", ["a@b.com", long, other, long].map((line) => JSON.stringify(line)).join("\n")],
    ["text", ["a@b.com", long, other, long].join("\n")],
  ] as const;

  test.each(bodies)(
    "goes on shortened, and is a duplicate only of what is the same to its end: %s",
    (form, body) => {
      const read = readItems("email", form, new TextEncoder().encode(body), ITEMS_MAX);
      if (!read.ok) throw new Error(read.message);
      const shown = "x".repeat(ITEM_UNITS_MAX);
      expect(JSON.parse(read.items.json(0, 4))).toEqual(["a@b.com", shown, shown, shown]);
      expect(read.items.identity(1) === read.items.identity(3)).toBe(true);
      expect(read.items.identity(1) === read.items.identity(2)).toBe(false);
    },
  );

  test("is not cut through a character", () => {
    const text = `${"x".repeat(ITEM_UNITS_MAX - 1)}\u{1f600}`;
    const read = readItems("email", "text", new TextEncoder().encode(text), ITEMS_MAX);
    if (!read.ok) throw new Error(read.message);
    expect(JSON.parse(read.items.json(0, 1))).toEqual(["x".repeat(ITEM_UNITS_MAX - 1)]);
  });
});
