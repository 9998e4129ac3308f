/**
 * The distance between a typed word and the intended one: a weighted Damerau-Levenshtein distance (optimal string
 * alignment) in which frequent typing errors cost little.
 */

const ROWS: readonly string[] = ["1234567890-", "qwertyuiop", "asdfghjkl", "zxcvbnm"];
/** The offset of each row from the top one, in key widths. */
const ROW_OFFSETS: readonly number[] = [0, 0.5, 0.75, 1.25];

/** The cost of each kind of edit. One typing error costs less than 1, a different word well above. */
export const SLIPS = {
  swap: 0.5,
  doubled: 0.4,
  undoubled: 0.4,
  missing: 0.8,
  /** Between two consonants: without it hardly a word is left. */
  missingVowel: 0.55,
  /** Costs more than another missing letter, as typists notice it. */
  missingFirst: 0.92,
  extra: 1.45,
  extraNeighbour: 0.6,
  hyphen: 0.95,
  neighbour: 0.6,
  lookAlike: 0.4,
  vowel: 0.9,
  soundAlike: 0.9,
  other: 1.45,
  /** Added for a substituted or an extra first letter. */
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
  const positions = new Map<string, readonly [number, number]>();
  for (const [row, keys] of ROWS.entries()) {
    for (const [column, key] of [...keys].entries())
      positions.set(key, [row, column + (ROW_OFFSETS[row] ?? 0)]);
  }
  const table = new Uint8Array(KEYS * KEYS);
  for (const [a, [rowA, columnA]] of positions) {
    for (const [b, [rowB, columnB]] of positions) {
      const near = Math.abs(rowA - rowB) <= 1 && Math.abs(columnA - columnB) <= 1.01;
      if (a !== b && near) table[a.charCodeAt(0) * KEYS + b.charCodeAt(0)] = 1;
    }
  }
  return table;
}

const substitutions = substitutionTable();

/** Returns the cost of each substitution, by the codes of both characters. */
function substitutionTable(): Float64Array {
  const table = new Float64Array(KEYS * KEYS).fill(SLIPS.other);
  for (const a of VOWELS) for (const b of VOWELS) setCost(table, a + b, SLIPS.vowel);
  for (const pair of SOUND_ALIKES) setCost(table, pair, SLIPS.soundAlike);
  for (let at = 0; at < table.length; at++) if (neighbours[at] === 1) table[at] = SLIPS.neighbour;
  for (const pair of LOOK_ALIKES) setCost(table, pair, SLIPS.lookAlike);
  return table;
}

function setCost(table: Float64Array, pair: string, cost: number): void {
  table[pair.charCodeAt(0) * KEYS + pair.charCodeAt(1)] = cost;
}

function areNeighbours(a: number, b: number): boolean {
  return a >= 0 && b >= 0 && a < KEYS && b < KEYS && neighbours[a * KEYS + b] === 1;
}

/** Returns a bit for each letter that occurs; digits and hyphens share one. */
export function letterMask(text: string): number {
  let mask = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    mask |= code >= 97 && code <= 122 ? 1 << (code - 97) : 1 << 26;
  }
  return mask;
}

/**
 * Returns a lower bound of the cost, from masks and lengths alone: each letter that only one of the two has takes an
 * edit of its own, and so does each letter of the difference in length.
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

/** Returns the cost of typing `typed` for `meant`, or Infinity where it is above `costMax`. */
export function editCost(typed: string, meant: string, costMax: number): number {
  const least = leastEditCost(letterMask(typed), letterMask(meant), typed.length - meant.length);
  return least > costMax ? Number.POSITIVE_INFINITY : alignmentCost(typed, meant, costMax);
}

/** Fills the matrix row by row, one for each typed letter; three rows are kept, as a swap refers two rows back. */
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

/** Returns the cost of an extra letter behind `j` letters of `meant`. */
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
  const isDoubled = code === meant.charCodeAt(j - 1) || code === meant.charCodeAt(j + 1);
  if (isDoubled) return SLIPS.undoubled;
  if (isVowel(code) && isConsonant(meant.charCodeAt(j - 1)) && isConsonant(meant.charCodeAt(j + 1)))
    return SLIPS.missingVowel;
  return j === 0 ? SLIPS.missingFirst : SLIPS.missing;
}
