import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  digestOfKey,
  hashApiKey,
  isApiKeyWellFormed,
  makeApiKey,
  systemRandomBytes,
} from "../../src/accounts/api-key.ts";

describe("API key", () => {
  test("is asy_, thirty random characters and the CRC32 of what stands before", () => {
    const key = makeApiKey((length) => new Uint8Array(length));
    expect(key).toBe("asy_000000000000000000000000000000" + "0CTdmH");
    expect(isApiKeyWellFormed(key)).toBe(true);
  });

  test("is another one each time, and well formed", () => {
    const keys = Array.from({ length: 1_000 }, () => makeApiKey(systemRandomBytes));
    expect(new Set(keys).size).toBe(1_000);
    expect(keys.every((key) => /^asy_[0-9A-Za-z]{36}$/.test(key) && isApiKeyWellFormed(key))).toBe(true);
  });

  test("uses every character about as often as any other", () => {
    const counts = new Map<string, number>();
    for (let count = 0; count < 5_000; count += 1) {
      for (const char of makeApiKey(systemRandomBytes).slice(4, 34))
        counts.set(char, (counts.get(char) ?? 0) + 1);
    }
    const mean = (5_000 * 30) / 62;
    expect(counts.size).toBe(62);
    // Six standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(6 * Math.sqrt(mean));
  });

  test("with one character changed, or two neighbours swapped, is refused", () => {
    const key = makeApiKey(systemRandomBytes);
    const place = fc.integer({ min: 0, max: key.length - 1 });
    fc.assert(
      fc.property(place, fc.string({ minLength: 1, maxLength: 1 }), (at, char) => {
        const typed = key.slice(0, at) + char + key.slice(at + 1);
        expect(isApiKeyWellFormed(typed)).toBe(typed === key);
      }),
    );
    for (let at = 0; at < key.length - 1; at += 1) {
      const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
      expect(isApiKeyWellFormed(swapped)).toBe(swapped === key);
    }
  });

  test.each(["", "asy_", "Bearer x", "asy_".padEnd(40, "é"), "x".repeat(100_000)])(
    "%.20j is no key",
    (text) => {
      expect(isApiKeyWellFormed(text)).toBe(false);
    },
  );

  test("is kept as its SHA-256", () => {
    expect(hashApiKey("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect(Buffer.from(digestOfKey("abc"), "base64").toString("hex")).toBe(hashApiKey("abc"));
  });
});
