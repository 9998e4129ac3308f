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

function isVowel(code: number): boolean {
  return VOWELS.includes(String.fromCharCode(code));
}

function areNeighbours(a: number, b: number): boolean {
  return a < KEYS && b < KEYS && neighbours[a * KEYS + b] === 1;
}

/** The cost of having typed `typed` for `meant`, or Infinity once it is sure to pass `costMax`. */
export function editCost(typed: string, meant: string, costMax: number): number {
  const width = meant.length + 1;
  let older = new Float64Array(width);
  let before = new Float64Array(width);
  let row = new Float64Array(width);
  for (let j = 1; j < width; j++) before[j] = (before[j - 1] ?? 0) + missingCost(meant, j - 1);
  let leastBefore = 0;
  for (let i = 1; i <= typed.length; i++) {
    row[0] = (before[0] ?? 0) + extraCost(typed, i - 1, meant, 0);
    let least = row[0];
    for (let j = 1; j < width; j++) {
      let cost = (before[j - 1] ?? 0) + substitutionCost(typed, i - 1, meant, j - 1);
      cost = Math.min(cost, (before[j] ?? 0) + extraCost(typed, i - 1, meant, j));
      cost = Math.min(cost, (row[j - 1] ?? 0) + missingCost(meant, j - 1));
      if (isSwap(typed, i, meant, j)) cost = Math.min(cost, (older[j - 2] ?? 0) + SLIPS.swap);
      row[j] = cost;
      if (cost < least) least = cost;
    }
    // A swap reaches back two rows, so one row past the limit is not yet the end.
    if (Math.min(least, leastBefore) > costMax) return Number.POSITIVE_INFINITY;
    leastBefore = least;
    const free = older;
    older = before;
    before = row;
    row = free;
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
  const first = j === 0 ? SLIPS.first : 0;
  if (LOOK_ALIKES.has(typed.charAt(i) + meant.charAt(j))) return SLIPS.lookAlike + first;
  if (areNeighbours(a, b)) return SLIPS.neighbour + first;
  if (SOUND_ALIKES.has(typed.charAt(i) + meant.charAt(j))) return SLIPS.soundAlike + first;
  return (isVowel(a) && isVowel(b) ? SLIPS.vowel : SLIPS.other) + first;
}

/** A letter typed that was not meant, where `j` letters of what was meant are behind it. */
function extraCost(typed: string, i: number, meant: string, j: number): number {
  const code = typed.charCodeAt(i);
  const behind = j > 0 ? meant.charCodeAt(j - 1) : -1;
  const ahead = j < meant.length ? meant.charCodeAt(j) : -1;
  if (code === behind || code === ahead) return SLIPS.doubled;
  if (code === HYPHEN) return SLIPS.hyphen;
  const near = areNeighbours(code, Math.max(behind, 0)) || areNeighbours(code, Math.max(ahead, 0));
  return (near ? SLIPS.extraNeighbour : SLIPS.extra) + (j === 0 ? SLIPS.first : 0);
}

function missingCost(meant: string, j: number): number {
  const code = meant.charCodeAt(j);
  const isTwin = code === meant.charCodeAt(j - 1) || code === meant.charCodeAt(j + 1);
  if (isTwin) return SLIPS.undoubled;
  return j === 0 ? SLIPS.missingFirst : SLIPS.missing;
}
