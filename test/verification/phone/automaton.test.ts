import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createAutomatonBuilder, firstDigitsOf } from "../../../src/tools/data-refresh/phone-automaton.ts";
import { parsePattern } from "../../../src/tools/data-refresh/phone-pattern.ts";
import { labelAfter } from "../../../src/verification/phone/automaton.ts";

const PATTERNS = [
  "[2-9]\\d{9}|3\\d{6}",
  "1(?:[12]\\d|79)\\d\\d",
  "0?(?:11|2(?:2(?:02?|[13])|3))?15",
  "(?:4[0-24-9]|80)\\d{2,5}",
  "8001|8[024]9",
];

const digits = fc.array(fc.constantFrom(..."0123456789"), { maxLength: 12 }).map((parts) => parts.join(""));

function built(source: string, isPrefix: boolean) {
  const { automaton, add } = createAutomatonBuilder();
  const start = add([{ source, isPrefix }], ([matches]) => Number(matches));
  const { next, labels } = automaton;
  return { automaton: { next: Uint16Array.from(next), labels: Uint16Array.from(labels) }, start };
}

describe("an automaton", () => {
  test.each(PATTERNS)("matches what %s matches", (source) => {
    const whole = built(source, false);
    const prefix = built(source, true);
    const pattern = new RegExp(`^(?:${source})$`);
    const beginning = new RegExp(`^(?:${source})`);
    // The patterns' own digits match more often.
    const likely = fc.array(fc.constantFrom(..."0123489"), { maxLength: 10 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(digits, likely, fc.stringMatching(pattern)), (text) => {
        expect(labelAfter(whole.automaton, whole.start, text)).toBe(Number(pattern.test(text)));
        expect(labelAfter(prefix.automaton, prefix.start, text)).toBe(Number(beginning.test(text)));
      }),
      { numRuns: 2000 },
    );
  });

  test("has the label 0 for 18 digits or more, and is the same for equal patterns", () => {
    const { automaton, add } = createAutomatonBuilder();
    const label = ([matches]: readonly boolean[]) => Number(matches);
    const start = add([{ source: "\\d", isPrefix: true }], label);
    const states = automaton.labels.length;
    expect(add([{ source: "[0-9]", isPrefix: true }], label)).toBe(start);
    expect(automaton.labels.length).toBe(states);
    const decoded = { next: Uint16Array.from(automaton.next), labels: Uint16Array.from(automaton.labels) };
    expect(labelAfter(decoded, start, "1".repeat(17))).toBe(1);
    expect(labelAfter(decoded, start, "1".repeat(18))).toBe(0);
  });

  test("throws for a pattern that it does not support", () => {
    for (const source of ["1*", "a", "(?!1)2", "[^1]", "1{2", "[1", "(1"]) {
      expect(() => parsePattern(source)).toThrow("Not a pattern of this kind");
    }
    expect(() => built("1?", false)).toThrow("matches no digits");
  });

  test("has the first digits of its pattern", () => {
    expect(firstDigitsOf("([457]\\d{6})$|1")).toEqual([1, 4, 5, 7]);
    expect(firstDigitsOf("0?(?:11|2)?")).toEqual([0, 1, 2]);
  });
});
