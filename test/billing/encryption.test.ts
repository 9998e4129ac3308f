import { expect, test } from "bun:test";
import {
  decryptText,
  decryptTextInSteps,
  encryptedTextBytes,
  encryptText,
  encryptTextInSteps,
} from "../../src/billing/encryption.ts";
import { atOnce, type Steps } from "../../src/platform/steps.ts";

const SECRET = "a".repeat(64);
const random = (bytes: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(49_152)))
    .toString("base64")
    .repeat(Math.ceil(bytes / 65_536))
    .slice(0, bytes);
const TEXTS = ["", "short", "é".repeat(200), "x".repeat(8_000_000), random(65_536), random(4_000_000)];

/** Steps of which one is known: how many there were. */
function countedSteps(): { readonly step: Steps; readonly count: () => number } {
  let count = 0;
  return {
    step: async (step) => {
      count += 1;
      return step();
    },
    count: () => count,
  };
}

test("a text that was encrypted in steps is read as any other, and a long one takes several", async () => {
  for (const [n, text] of TEXTS.entries()) {
    const { step, count } = countedSteps();
    const purpose = `text ${n}`;
    const encrypted = await encryptTextInSteps(text, SECRET, purpose, step);
    for (const one of [encrypted, encryptText(text, SECRET, purpose)]) {
      expect(decryptText(one, SECRET, purpose) === text).toBe(true);
      expect((await decryptTextInSteps(one, SECRET, purpose, step)) === text).toBe(true);
      expect(await decryptTextInSteps(one, SECRET, "another purpose", atOnce)).toBeNull();
      const changed = `${one.slice(0, -8)}AAAAAA==`;
      expect(await decryptTextInSteps(changed, SECRET, purpose, step)).toBeNull();
    }
    expect([n, count() > 6]).toEqual([n, text.length > 131_072]);
  }
});

test("how long a text is can be told before it is decrypted, however short it is encrypted", async () => {
  for (const [n, text] of TEXTS.entries()) {
    const purpose = `length ${n}`;
    const encrypted = [
      encryptText(text, SECRET, purpose),
      await encryptTextInSteps(text, SECRET, purpose, async (step) => step()),
    ];
    const bytes = Buffer.byteLength(text);
    for (const one of encrypted) {
      const told = encryptedTextBytes(one, SECRET, purpose);
      expect([n, told >= bytes, told <= bytes + 64]).toEqual([n, true, true]);
    }
  }
});
