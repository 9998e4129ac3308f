import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isHost, listingText, priceMicroUsd } from "../../src/directory/listing.ts";
import { readListing } from "../../src/directory/listing-reader.ts";
import { payeeKey } from "../../src/directory/payee.ts";
import { listing, START } from "../support/directory.ts";

const VECTORS = join(import.meta.dir, "../vectors/directory");

function vectors(file: string): string[] {
  const text = readFileSync(join(VECTORS, file), "utf8");
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
}

describe("readListing", () => {
  test("accepts a record of the contract unchanged", () => {
    const record = listing(1);
    const read = readListing(record, START);
    expect(read).toEqual({ ok: true, listing: record as never });
    if (read.ok) expect(JSON.parse(listingText(read.listing, null))).toEqual(record);
  });

  test.each(vectors("faults.tsv").map((line) => line.split("\t") as [string, string, string]))(
    "refuses %s = %s as %s",
    (path, json, reason) => {
      const record = listing(1) as never as Record<string, unknown>;
      set(record, path.split("."), JSON.parse(json));
      const read = readListing(record, START);
      expect(read.ok ? "taken" : read.reason).toBe(reason);
    },
  );

  test.each(vectors("fine.tsv").map((line) => line.split("\t") as [string, string]))(
    "accepts %s = %s",
    (path, json) => {
      const record = listing(1) as never as Record<string, unknown>;
      set(record, path.split("."), JSON.parse(json));
      expect(readListing(record, START)).toMatchObject({ ok: true });
    },
  );

  test("refuses anything but an object", () => {
    for (const value of [null, 1, "x", [], true]) {
      expect(readListing(value, START)).toEqual({ ok: false, host: null, reason: "not_an_object" });
    }
  });

  test("drops fields outside the contract, prototype keys included", () => {
    const text = JSON.stringify(listing(1)).replace(
      '"endpoints"',
      '"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"extra":1,"endpoints"',
    );
    const read = readListing(JSON.parse(text), START);
    if (!read.ok) throw new Error(read.reason);
    expect(listingText(read.listing, null)).toBe(JSON.stringify(listing(1)));
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test("keeps HTML as plain text", () => {
    const html = '<script>alert(1)</script> & "quotes" \u2028 line';
    const read = readListing(
      listing(1, (record) => {
        record.description = html;
      }),
      START,
    );
    if (!read.ok) throw new Error(read.reason);
    expect(JSON.parse(listingText(read.listing, null)).description).toBe(html);
  });
});

function set(record: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [first = "", ...rest] = path;
  if (rest.length > 0) set(record[first] as Record<string, unknown>, rest, value);
  else if (value === "<absent>") delete record[first];
  else record[first] = value;
}

describe("payeeKey", () => {
  test.each(vectors("payees-valid.tsv").map((line) => line.split("\t") as [string, string]))(
    "reads %s",
    (address, key) => {
      expect(payeeKey(address)).toBe(key);
    },
  );

  test.each(vectors("payees-invalid.txt"))("refuses %s", (address) => {
    expect(payeeKey(address)).toBeNull();
  });

  test("refuses a checksummed address in which the case of one letter differs", () => {
    const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    for (let at = 2; at < address.length; at++) {
      const character = address.charAt(at);
      const other = character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
      if (other === character) continue;
      expect(payeeKey(address.slice(0, at) + other + address.slice(at + 1))).toBeNull();
    }
  });
});

test("prices are integers in micro-USD", () => {
  expect(priceMicroUsd("0.050000")).toBe(50_000);
  expect(priceMicroUsd("999999999.999999")).toBe(999_999_999_999_999);
  expect(priceMicroUsd(null)).toBeNaN();
});

test("a host is a lower-case DNS name of two labels or more", () => {
  for (const host of ["a.example", "xn--bcher-kva.example", "1.a-b.example"]) expect(isHost(host)).toBe(true);
  for (const host of [
    "example",
    "A.example",
    "a..example",
    "-a.example",
    "a.example.",
    "1.2.3.4",
    "a_b.example",
  ]) {
    expect(isHost(host)).toBe(false);
  }
});
