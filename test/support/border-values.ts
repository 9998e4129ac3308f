import type { JsonValue } from "./drawn-values.ts";

/** Texts near the borders of what parameters allow: numbers, flags, words, dates, lengths, characters. */
export const BORDER_WORDS: readonly string[] = [
  ...["", " ", "true", "FALSE", "tRuE", "yes", "0", "1", "2", "-1", "5.0", "1e3", "0x1", "100", "1000", "+1"],
  ...["free", "gold", "cpf", "passport", "day", "score", "asc", "0.05", "250.00", "1.1234567", "null", "BR"],
  ...[
    "a@b.co",
    "x".repeat(99),
    "x".repeat(201),
    "x".repeat(1001),
    "x".repeat(4097),
    "\u0000",
    "G\u0085B",
    "é",
  ],
];

/** Those, and values of other types. */
export const BORDER_VALUES: readonly JsonValue[] = [
  ...BORDER_WORDS,
  ...[null, true, false, 0, 1, -1, 0.5, 7, 2_592_001, [], ["a"], {}, [7]],
];
