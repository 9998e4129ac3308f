/**
 * How far a typed word is from the word that was meant, in slips: what fingers do often costs little. A weighted
 * Damerau-Levenshtein distance (optimal string alignment).
 */

const ROWS: readonly string[] = ["1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm"];
/** How far each row of keys stands to the right of the one above, in keys. */
const ROW_OFFSETS: readonly number[] = [0, 0.5, 0.75, 1.25];

/** The price of each slip. One slip of the fingers is below 1, a different word is well above. */
export const SLIPS = {
  swap: 0.5,
  doubled: 0.4,
  undoubled: 0.4,
  missing: 0.8,
  /** Left out between two consonants, which leaves what is hardly a word. */
  missingVowel: 0.55,
  /** People look at the first letter. */
  missingFirst: 0.92,
  extra: 1.45,
  extraNeighbour: 0.6,
  hyphen: 0.95,
  neighbour: 0.6,
  lookAlike: 0.4,
  vowel: 0.9,
  soundAlike: 0.9,
  other: 1.45,
  /** Added where the first letter is another or an extra one stands before it. */
  first: 0.3,
} as const;

const KEYS = 128;
const HYPHEN = 0x2d;
const VOWELS = "aeiou";
const neighbours = neighbourTable();
const LOOK_ALIKES: ReadonlySet<string> = new Set([
  "0o",
  "o0",
  "1l",
  "l1",
  "1i",
  "i1",
  "il",
  "li",
  "5s",
  "s5",
]);
const SOUND_ALIKES: ReadonlySet<string> = new Set(["ck", "kc", "sz", "zs"]);

function neighbourTable(): Uint8Array {
  const places = new Map<string, readonly [number, number]>();
  for (const [row, keys] of ROWS.entries()) {
    for (const [column, key] of [...keys].entries()) places.set(key, [row, column + (ROW_OFFSETS[row] ?? 0)]);
  }
  const table = new Uint8Array(KEYS * KEYS);
  for (const [a, [rowA, columnA]] of places) {
    for (const [b, [rowB, columnB]] of places) {
      const near = Math.abs(rowA - rowB) <= 1 && Math.abs(columnA - columnB) <= 1.01;
      if (a !== b && near) table[a.charCodeAt(0) * KEYS + b.charCodeAt(0)] = 1;
    }
  }
  return table;
}

const substitutions = substitutionTable();

/** The price of each key for each other, by code. */
function substitutionTable(): Float64Array {
  const table = new Float64Array(KEYS * KEYS).fill(SLIPS.other);
  for (const a of VOWELS) for (const b of VOWELS) price(table, a + b, SLIPS.vowel);
  for (const pair of SOUND_ALIKES) price(table, pair, SLIPS.soundAlike);
  for (let at = 0; at < table.length; at++) if (neighbours[at] === 1) table[at] = SLIPS.neighbour;
  for (const pair of LOOK_ALIKES) price(table, pair, SLIPS.lookAlike);
  return table;
}

function price(table: Float64Array, pair: string, cost: number): void {
  table[pair.charCodeAt(0) * KEYS + pair.charCodeAt(1)] = cost;
}

function areNeighbours(a: number, b: number): boolean {
  return a >= 0 && b >= 0 && a < KEYS && b < KEYS && neighbours[a * KEYS + b] === 1;
}

/** One bit for each letter that occurs; digits and hyphens share one. */
export function letterMask(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    mask |= code >= 97 && code <= 122 ? 1 << (code - 97) : 1 << 26;
  }
  return mask;
}

/**
 * What the cost is at least, from the letters that occur and the lengths alone: each letter that only one of the
 * two has is a slip of its own, and so is each letter too many.
 */
export function leastEditCost(typedMask: number, meantMask: number, lengthDifference: number): number {
  const extra = bitCount(typedMask & ~meantMask);
  const missing = bitCount(meantMask & ~typedMask);
  return Math.max(extra, missing, Math.abs(lengthDifference)) * SLIP_LEAST;
}

const SLIP_LEAST = Math.min(...Object.values(SLIPS).filter((cost) => cost !== SLIPS.first));

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** The cost of having typed `typed` for `meant`, or Infinity once it is sure to pass `costMax`. */
export function editCost(typed: string, meant: string, costMax: number): number {
  const least = leastEditCost(letterMask(typed), letterMask(meant), typed.length - meant.length);
  return least > costMax ? Number.POSITIVE_INFINITY : alignmentCost(typed, meant, costMax);
}

/** Row by row through the letters typed; three rows are kept, as a swap reaches back two. */
function alignmentCost(typed: string, meant: string, costMax: number): number {
  const width = meant.length + 1;
  const missing = Array.from({ length: width }, (_, j) => (j === 0 ? 0 : missingCost(meant, j - 1)));
  let older: number[] = [];
  let before: number[] = [0];
  for (let j = 1; j < width; j++) before.push((before[j - 1] ?? 0) + (missing[j] ?? 0));
  let leastBefore = 0;
  for (let i = 1; i <= typed.length; i++) {
    const row = [(before[0] ?? 0) + extraCost(typed, i - 1, meant, 0)];
    let least = row[0] ?? 0;
    for (let j = 1; j < width; j++) {
      let cost = (before[j - 1] ?? 0) + substitutionCost(typed, i - 1, meant, j - 1);
      cost = Math.min(cost, (before[j] ?? 0) + extraCost(typed, i - 1, meant, j));
      cost = Math.min(cost, (row[j - 1] ?? 0) + (missing[j] ?? 0));
      if (isSwap(typed, i, meant, j)) cost = Math.min(cost, (older[j - 2] ?? 0) + SLIPS.swap);
      row.push(cost);
      if (cost < least) least = cost;
    }
    if (Math.min(least, leastBefore) > costMax) return Number.POSITIVE_INFINITY;
    leastBefore = least;
    older = before;
    before = row;
  }
  const cost = before[width - 1] ?? 0;
  return cost > costMax ? Number.POSITIVE_INFINITY : cost;
}

function isSwap(typed: string, i: number, meant: string, j: number): boolean {
  return (
    i > 1 &&
    j > 1 &&
    typed.charCodeAt(i - 1) === meant.charCodeAt(j - 2) &&
    typed.charCodeAt(i - 2) === meant.charCodeAt(j - 1) &&
    typed.charCodeAt(i - 1) !== typed.charCodeAt(i - 2)
  );
}

function substitutionCost(typed: string, i: number, meant: string, j: number): number {
  const a = typed.charCodeAt(i);
  const b = meant.charCodeAt(j);
  if (a === b) return 0;
  const cost = a < KEYS && b < KEYS ? (substitutions[a * KEYS + b] ?? SLIPS.other) : SLIPS.other;
  return j === 0 ? cost + SLIPS.first : cost;
}

/** A letter typed that was not meant, where `j` letters of what was meant are behind it. */
function extraCost(typed: string, i: number, meant: string, j: number): number {
  const code = typed.charCodeAt(i);
  const behind = j > 0 ? meant.charCodeAt(j - 1) : -1;
  const ahead = j < meant.length ? meant.charCodeAt(j) : -1;
  if (code === behind || code === ahead) return SLIPS.doubled;
  if (code === HYPHEN) return SLIPS.hyphen;
  const near = areNeighbours(code, behind) || areNeighbours(code, ahead);
  return (near ? SLIPS.extraNeighbour : SLIPS.extra) + (j === 0 ? SLIPS.first : 0);
}

function isVowel(code: number): boolean {
  return VOWELS.includes(String.fromCharCode(code));
}

function isConsonant(code: number): boolean {
  return code >= 97 && code <= 122 && !isVowel(code);
}

function missingCost(meant: string, j: number): number {
  const code = meant.charCodeAt(j);
  const isTwin = code === meant.charCodeAt(j - 1) || code === meant.charCodeAt(j + 1);
  if (isTwin) return SLIPS.undoubled;
  if (isVowel(code) && isConsonant(meant.charCodeAt(j - 1)) && isConsonant(meant.charCodeAt(j + 1)))
    return SLIPS.missingVowel;
  return j === 0 ? SLIPS.missingFirst : SLIPS.missing;
}
