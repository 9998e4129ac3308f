/** Random text the weights of the gibberish score are fitted on. The evaluation has makers of its own. */
import { pick, type seededRandom } from "./gibberish-corpus.ts";

type Random = ReturnType<typeof seededRandom>;

const commonLetters = "eeeeeeaaaaaiiiiiooooonnnnrrrrttttssssllldddcccuuummmpphhggbbffyyvkwzxjq";
const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const rows = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];

function between(least: number, most: number, random: Random): number {
  return least + Math.floor(random() * (most - least + 1));
}

function drawn(alphabet: string, length: number, random: Random): string {
  let text = "";
  for (let i = 0; i < length; i++) text += alphabet.charAt(Math.floor(random() * alphabet.length));
  return text;
}

/** A finger that wanders to a neighbouring key and mostly keeps its direction. */
function stroll(length: number, random: Random): string {
  let y = between(1, 3, random);
  let x = between(0, 6, random);
  let step = random() < 0.5 ? 1 : -1;
  let text = "";
  while (text.length < length) {
    text += rows[y]?.charAt(x) ?? "";
    if (random() < 0.12) step = -step;
    if (random() < 0.12) y = Math.min(3, Math.max(0, y + (random() < 0.5 ? 1 : -1)));
    else x += step;
    const width = rows[y]?.length ?? 0;
    if (x < 0 || x >= width) {
      x = Math.min(width - 1, Math.max(0, x));
      step = -step;
      y = 1 + ((y + 1) % 3);
    }
  }
  return text;
}

function shuffled(text: string, random: Random): string {
  const letters = [...text];
  for (let i = letters.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const held = letters[i] ?? "";
    letters[i] = letters[j] ?? "";
    letters[j] = held;
  }
  return letters.join("");
}

function alternatingHands(length: number, random: Random): string {
  let text = "";
  while (text.length < length) {
    text +=
      drawn("asdfasdfqwerzxcv", between(1, 3, random), random) +
      drawn("jkljklhuiopnm", between(1, 3, random), random);
  }
  return text.slice(0, length);
}

function columns(random: Random): string {
  const pairs = [
    "1qaz",
    "2wsx",
    "3edc",
    "4rfv",
    "5tgb",
    "6yhn",
    "7ujm",
    "qaz",
    "wsx",
    "edc",
    "rfv",
    "tgb",
    "yhn",
  ];
  const start = between(0, pairs.length - 3, random);
  const text = pairs.slice(start, start + between(2, 3, random)).join("");
  return random() < 0.3 ? [...text].reverse().join("") : text;
}

function repeated(random: Random): string {
  const unit = drawn(commonLetters, between(1, 4, random), random);
  return unit.repeat(Math.ceil(between(6, 14, random) / unit.length));
}

/** Makers with their weights; `name` gives a real name to build on. */
const randomMakers: readonly (readonly [
  weight: number,
  make: (length: number, random: Random, name: () => string) => string,
])[] = [
  [14, (length, random) => drawn("abcdefghijklmnopqrstuvwxyz", length, random)],
  [6, (length, random) => drawn(commonLetters, length, random)],
  [14, (length, random) => drawn(crockford, length, random)],
  [8, (length, random) => drawn("0123456789abcdefghij", length, random)],
  [5, (length, random) => drawn(base64url, length, random)],
  [8, stroll],
  [5, (_, random) => columns(random)],
  [3, (_, random, name) => shuffled(`${name()}${name()}`.slice(0, 16), random)],
  [6, alternatingHands],
  [8, (length, random) => drawn("bcdfghjklmnpqrstvwxzbcdfghjklmnpqrstvwxzyaeiou", length, random)],
  [
    8,
    (length, random) =>
      drawn("abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789", length, random),
  ],
  [3, (_, random) => repeated(random)],
  [
    3,
    (length, random, name) =>
      `${name()}${pick([".", "_", "-", ""], random)}${drawn(crockford, Math.max(7, length), random)}`,
  ],
];
const makerWeight = randomMakers.reduce((sum, [weight]) => sum + weight, 0);

export function randomLocal(random: Random, name: () => string): string {
  const length = between(6, 18, random);
  let point = random() * makerWeight;
  for (const [weight, make] of randomMakers) {
    point -= weight;
    if (point < 0) return make(length, random, name);
  }
  return drawn(crockford, length, random);
}
