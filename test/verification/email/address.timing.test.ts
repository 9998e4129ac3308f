import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SYNTAX_FAULTS } from "../../../src/contract/words.ts";
import {
  createAddressParser,
  mailDomainOf,
  type ParsedAddress,
  parseAddress,
} from "../../../src/verification/email/address.ts";
import { quickestMs } from "../../support/duration.ts";
import invalidText from "../../vectors/email/address.invalid.txt" with { type: "text" };
import validText from "../../vectors/email/address.valid.txt" with { type: "text" };
import { rowsOf } from "./vectors.ts";

const valid = rowsOf(validText);
const invalid = rowsOf(invalidText);

describe("a valid address", () => {
  for (const [address = "", domain = ""] of valid) {
    test(`${JSON.stringify(address)} is accepted with the domain ${domain}`, () => {
      const parsed = parseAddress(address);
      expect(parsed).toMatchObject({ ok: true, domain });
      expect(mailDomainOf(address)).toBe(domain);
    });
  }
});

describe("an invalid address", () => {
  for (const [address = "", reason = ""] of invalid) {
    test(`${JSON.stringify(address).slice(0, 80)} is refused as ${reason}`, () => {
      expect(parseAddress(address)).toMatchObject({ ok: false, reason });
      expect(mailDomainOf(address)).toBeNull();
    });
  }

  test("has a vector for every syntax fault", () => {
    const shown = new Set(invalid.map(([, reason]) => reason));
    expect(SYNTAX_FAULTS.filter((fault) => !shown.has(fault))).toEqual([]);
  });
});

test("lengths are measured after conversion, in octets", () => {
  expect(parseAddress(`${"ü".repeat(32)}@example.com`).ok).toBe(true);
  expect(parseAddress(`${"ü".repeat(33)}@example.com`).ok).toBe(false);
  const domain = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(58)}.com`;
  expect(parseAddress(`${"x".repeat(254 - 1 - domain.length)}@${domain}`).ok).toBe(true);
  expect(parseAddress(`${"x".repeat(255 - 1 - domain.length)}@${domain}`).ok).toBe(false);
});

test("a text of more than 320 octets, white space included, is refused as too long", () => {
  const padded = (octets: number) => `${" ".repeat(octets - "a@example.com".length)}a@example.com`;
  const wide = (letters: number) => `${"ü".repeat(letters)}@@`;
  expect(parseAddress(padded(320)).ok).toBe(true);
  expect(parseAddress(padded(321))).toMatchObject({ ok: false, reason: "address_too_long" });
  expect(mailDomainOf(padded(320))).toBe("example.com");
  expect(mailDomainOf(padded(321))).toBe(null);
  expect(parseAddress(wide(159))).toMatchObject({ ok: false, reason: "local_too_long" });
  expect(parseAddress(wide(160))).toMatchObject({ ok: false, reason: "address_too_long" });
});

test("the local part is returned in NFC and the domain in A-labels", () => {
  expect(parseAddress("Ame\u0301lie@MU\u0308LLER.de")).toEqual({
    ok: true,
    local: "Am\u00e9lie",
    domain: "xn--mller-kva.de",
  });
});

describe("a parser with a cache of domains", () => {
  test("decides like one without", () => {
    const parser = createAddressParser(8);
    for (const [address = ""] of [...valid, ...invalid, ...valid]) {
      expect(parser.parse(address)).toEqual(parseAddress(address));
      expect(parser.mailDomainOf(address)).toBe(mailDomainOf(address));
    }
  });

  test("keeps no body in memory from which an address was sliced", () => {
    const parser = createAddressParser();
    const residentMb = () => {
      Bun.gc(true);
      return process.memoryUsage.rss() / 1e6;
    };
    const beforeMb = residentMb();
    for (let nth = 0; nth < 150; nth++) {
      // Every other domain has a lone surrogate, which a copy by way of UTF-8 would change.
      const domain = `d${nth}${nth % 2 === 0 ? "" : "\ud800"}.example.com`;
      const body: string = JSON.parse(JSON.stringify(`a@${domain}\n${"b".repeat(1_500_000)}`));
      expect(parser.parse(body.slice(0, body.indexOf("\n"))).domain).toBe(domain);
    }
    expect(residentMb() - beforeMb).toBeLessThan(100);
  });
});

/** Characters and texts that may or may not be part of an address. */
const pieces = fc.constantFrom(
  ...'a1.-_+@@.. \t"()<>[],;:\\\u0000\u007f',
  "ü",
  "\u0301",
  "\u200b",
  "\u200d",
  "\u202e",
  "\ud800",
  "\udc00",
  "。",
  "．",
  "xn--",
  ".com",
  "gmail.com",
  "例え",
  "א",
  "%41",
);
const nearAddresses = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(""));

/** Addresses near the limits of length, of the whole and of each part. */
const textOf = (characters: string, lengthMax: number) =>
  fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: lengthMax, size: "max" })
    .map((letters) => letters.join(""));
const longAddresses = fc
  .tuple(
    textOf("aaaaaab1_é", 66),
    fc.array(fc.oneof(textOf("aaaaaaaaab1", 65), textOf("a-", 4)), { minLength: 1, maxLength: 4 }),
    fc.constantFrom("com", "de", "com.br"),
  )
  .map(([local, labels, end]) => `${local}@${[...labels, end].join(".")}`);

describe("any text", () => {
  const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), nearAddresses);

  test("is accepted or refused with a known reason, and never throws", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseAddress(text);
        expect(mailDomainOf(text)).toBe(parsed.ok ? parsed.domain : null);
        if (!parsed.ok) expect(isKnown(parsed)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test("is accepted only within the limits of RFC 5321 and with well-formed labels", () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(anyText, longAddresses), (text) => {
        const parsed = parseAddress(text);
        if (!parsed.ok) return;
        accepted += 1;
        expect(Buffer.byteLength(parsed.local)).toBeLessThanOrEqual(64);
        expect(Buffer.byteLength(`${parsed.local}@${parsed.domain}`)).toBeLessThanOrEqual(254);
        expect(parsed.domain).toMatch(/^(?!-)[a-z0-9-]{1,63}(?<!-)(?:\.(?!-)[a-z0-9-]{1,63}(?<!-))+$/);
        expect(parsed.local.normalize("NFC")).toBe(parsed.local);
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });

  test("of a megabyte is refused within 5 ms", () => {
    for (const unit of [
      "a",
      ".",
      "@",
      "a.",
      "a@",
      " ",
      "\u0301",
      "ü",
      "xn--",
      "\ud800",
      '"',
      "(",
      "。",
      "<",
    ]) {
      const text = unit.repeat(1_000_000 / unit.length);
      for (const long of [text, `a@${text}`, `${text}@example.com`, `a@${text}.com`]) {
        expect(parseAddress(long).ok).toBe(false);
        expect(quickestMs(() => parseAddress(long), 5)).toBeLessThan(5);
      }
    }
  });
});

function isKnown(parsed: Extract<ParsedAddress, { ok: false }>): boolean {
  if (parsed.subStatus !== "invalid_syntax") return parsed.reason === parsed.subStatus;
  return SYNTAX_FAULTS.some((fault) => fault === parsed.reason);
}
