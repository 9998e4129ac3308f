import { pick, type TokenGroup } from "./gibberish-corpus.ts";

type Ingredients = {
  readonly first: string;
  readonly last: string;
  readonly word: string;
  readonly random: () => number;
};

function digits(count: number, random: () => number): string {
  let text = "";
  for (let i = 0; i < count; i++) text += Math.floor(random() * 10);
  return text;
}

function year(random: () => number): string {
  return String(1950 + Math.floor(random() * 76));
}

function letter(random: () => number): string {
  return pick([..."aaabbcccddeeeffgghhiijjjkkllmmmmnnooppqrrrsssttuvwxyz"], random);
}

const particles = "de van von el al bin ben da di du la le mc mac san st ter der vander dela o abu".split(
  " ",
);
const dutchParticles = "van vd vd vande vander vden de d ver den ten ter vdr".split(" ");
const termsWithDigits =
  "mp3 mp4 h2o co2 3d 2d 4x4 web2 web3 b2b b2c p2p e2e k8s i18n q1 q2 q3 q4 h1 h2 f1 m3 x5 4k 5g 24x7 365 v2 gr8 m8 l8r sk8 b4 w8 u2 k9 s3 ec2 r2d2 y2k b12 1st 2nd 3rd 4th 12th 80s 90s 10k 5k 7up a4 w3 t4 2x 4u 2u 4me 2go 4you 2pac 50cent 4ever 2day".split(
    " ",
  );
const epithets = "mr mrs dr the real iam its im its the el la team club dj mc lil big official".split(" ");
const digitForLetter: Readonly<Record<string, string>> = {
  a: "4",
  e: "3",
  i: "1",
  o: "0",
  s: "5",
  t: "7",
  b: "8",
};
const separators = [".", ".", ".", "_", "-"];

/** A letter written as the digit that looks like it, as in m4trix. */
function withOneDigit(word: string, random: () => number): string {
  const places = [...word].flatMap((letter, place) => (digitForLetter[letter] === undefined ? [] : [place]));
  if (places.length === 0) return word;
  const place = pick(places, random);
  return word.slice(0, place) + (digitForLetter[word.charAt(place)] ?? "") + word.slice(place + 1);
}

const shapes: readonly (readonly [weight: number, make: (ingredients: Ingredients) => string])[] = [
  [16, ({ first, last, random }) => first + pick(separators, random) + last],
  [10, ({ first, last }) => first + last],
  [9, ({ first, last }) => first.charAt(0) + last],
  [4, ({ first, last }) => `${first.charAt(0)}.${last}`],
  [4, ({ first, last, random }) => last + pick(separators, random) + first],
  [4, ({ first, last }) => last + first],
  [5, ({ first }) => first],
  [4, ({ last }) => last],
  [4, ({ first, last }) => first + last.charAt(0)],
  [3, ({ first, last }) => last + first.charAt(0)],
  [6, ({ first, random }) => first + digits(1 + Math.floor(random() * 4), random)],
  [4, ({ first, random }) => first + year(random)],
  [4, ({ first, last, random }) => first + last + digits(1 + Math.floor(random() * 3), random)],
  [3, ({ first, last, random }) => first.charAt(0) + last + digits(1 + Math.floor(random() * 3), random)],
  [3, ({ first, last, random }) => first + pick(separators, random) + last + digits(2, random)],
  [2, ({ last, random }) => last + year(random)],
  [4, ({ first, last, random }) => first.charAt(0) + letter(random) + last],
  [1.5, ({ first, last, random }) => first.charAt(0) + letter(random) + letter(random) + last],
  [1, ({ first, last, random }) => last + first.charAt(0) + letter(random)],
  [1, ({ first, last, random }) => `${first.charAt(0)}.${letter(random)}.${last}`],
  [1.5, ({ first, last }) => first.slice(0, 3) + last.slice(0, 3)],
  [1, ({ first, last }) => last.slice(0, 5) + first.slice(0, 2)],
  [1, ({ first, last, random }) => first.charAt(0) + letter(random) + last.charAt(0) + digits(3, random)],
  [0.7, ({ first, last, random }) => first.charAt(0) + last.charAt(0) + digits(6, random)],
  [0.5, ({ last, random }) => last.charAt(0) + digits(7, random)],
  [
    2,
    ({ first, random }) =>
      first.slice(0, 3 + Math.floor(random() * 2)) + pick(["y", "ie", "o", "i", "s", "a"], random),
  ],
  [2, ({ first, word }) => first + word],
  [1, ({ word, last }) => word + last],
  [5, ({ word }) => word],
  [2, ({ word, random }) => word + digits(1 + Math.floor(random() * 4), random)],
  [1, ({ word, random }) => word + pick(["", ...separators], random) + year(random)],
  [1.5, ({ word, random, first }) => word + pick(separators, random) + first],
  [1.5, ({ first, last, random }) => `${first}.${letter(random)}.${last}`],
  [1.5, ({ first, last, random }) => first + pick(["", "."], random) + pick(particles, random) + last],
  [1, ({ last, random }) => letter(random) + pick(particles, random) + last],
  [0.7, ({ first, random }) => digits(1 + Math.floor(random() * 3), random) + first],
  [0.4, ({ first, word }) => `${first}2${word}`],
  [0.4, ({ first, word }) => `${first}4${word}`],
  [0.3, ({ word, random }) => `${word}-20${digits(2, random)}-0${digits(1, random)}-${digits(2, random)}`],
  [0.3, ({ word, random }) => `${word}${digits(2, random)}${letter(random)}`],
  [0.3, ({ first, last, random }) => `${first}${digits(2, random)}${last}`],
  [1.5, ({ last, random }) => letter(random) + pick(dutchParticles, random) + last],
  [1.2, ({ last, random }) => letter(random) + letter(random) + pick(dutchParticles, random) + last],
  [
    0.6,
    ({ last, random }) =>
      letter(random) + letter(random) + letter(random) + pick(dutchParticles, random) + last,
  ],
  [0.5, ({ random }) => pick(termsWithDigits, random)],
  [0.8, ({ word, random }) => pick(termsWithDigits, random) + pick(["", "-", "."], random) + word],
  [0.8, ({ word, random }) => word + pick(["", "-", "_"], random) + pick(termsWithDigits, random)],
  [0.6, ({ word, random }) => withOneDigit(word, random)],
  [
    0.4,
    ({ first, word, random }) => pick([`xx${first}xx`, `x${word}x`, `x_${word}_x`, `xo${first}`], random),
  ],
  [
    0.8,
    ({ first, word, random }) =>
      pick(epithets, random) + pick(["", "", "-", "."], random) + pick([first, word], random),
  ],
  [0.3, ({ first }) => first + first.slice(-1) + first.slice(-1)],
];
const shapeWeight = shapes.reduce((sum, [weight]) => sum + weight, 0);

/** Returns a local part as people make them of these tokens. */
export function humanLocal(group: TokenGroup, random: () => number): string {
  const words = group.words.length > 0 && (group.first.length === 0 || random() < 0.5) ? group.words : null;
  const first = pick(group.first.length > 0 ? group.first : group.words, random);
  const last = pick(group.last.length > 0 ? group.last : group.words, random);
  const word = pick(words ?? (group.first.length > 0 ? group.first : group.words), random);
  let point = random() * shapeWeight;
  for (const [weight, make] of shapes) {
    point -= weight;
    if (point < 0) return make({ first, last, word, random });
  }
  return first;
}
