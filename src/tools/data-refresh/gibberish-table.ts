/**
 * Fits the tables of the gibberish score and writes them as text: counts over made-up human locals, weights by
 * logistic regression where each fold of languages is judged by counts of the others, and an isotonic calibration.
 */
import { createLocalReading, readLocal } from "../../verification/email/gibberish-measures.ts";
import {
  digitSymbol,
  type GibberishModel,
  kindCount,
  kindOfSymbol,
  kindOrder,
  kindTableSize,
  lengthClassCount,
  lengthClassOf,
  logitOf,
  nextKindContext,
  symbolCount,
  symbolOfCode,
} from "../../verification/email/gibberish-model.ts";
import { encodeGibberishModel, levelOf } from "../../verification/email/gibberish-table.ts";
import type { GeneratedTable } from "./generated-table.ts";
import { foldCount, pick, seededRandom, type TokenGroup, tokenGroups } from "./gibberish-corpus.ts";
import { type Example, fittedWeights, isotonic, weightOf } from "./gibberish-fit.ts";
import { humanLocal } from "./gibberish-human.ts";
import { randomLocal } from "./gibberish-random.ts";

const localsPerGroupMax = 20_000;
const localsPerToken = 15;
/** Twice those of other groups: the sequences of such names are rare, and few names must outweigh all others. */
const localsPerVowellessToken = 30;
const fittedLocals = 60_000;
/** Measures that few locals of a class have keep the weight they have over all lengths. */
const lengthClassHold = 100;

type Counts = { readonly trigrams: Float64Array; readonly kinds: Float64Array };

function emptyCounts(): Counts {
  return { trigrams: new Float64Array(symbolCount ** 3), kinds: new Float64Array(kindTableSize) };
}

function add(table: Float64Array, index: number, amount: number): void {
  table[index] = (table[index] ?? 0) + amount;
}

/** Counts the transitions of one local, in the same way as the scorer reads it. */
function countLocal(local: string, counts: Counts): void {
  let last = 0;
  let beforeLast = 0;
  let kindContext = 0;
  for (let i = 0; i <= local.length; i++) {
    const symbol = symbolOfCode[i < local.length ? local.charCodeAt(i) : 0] ?? 0;
    if (symbol === 0 && last === 0) continue;
    kindContext = nextKindContext(kindContext, symbol);
    add(counts.trigrams, (beforeLast * symbolCount + last) * symbolCount + symbol, 1);
    add(counts.kinds, kindContext, 1);
    if (symbol === 0) kindContext = 0;
    beforeLast = symbol === 0 ? 0 : last;
    last = symbol;
  }
}

function localsOf(group: TokenGroup): number {
  const perToken = group.isVowelless === true ? localsPerVowellessToken : localsPerToken;
  return Math.min(
    localsPerGroupMax,
    perToken * (group.first.length + group.last.length + group.words.length),
  );
}

function sumOf(tables: readonly Counts[]): Counts {
  const total = emptyCounts();
  for (const table of tables) {
    table.trigrams.forEach((count, index) => {
      add(total.trigrams, index, count);
    });
    table.kinds.forEach((count, index) => {
      add(total.kinds, index, count);
    });
  }
  return total;
}

/** Chance of a symbol in random text: a tenth of the places end a part, the rest are of 26 letters and 10 digits. */
function randomChance(symbol: number): number {
  if (symbol === 0) return 0.1;
  return symbol === digitSymbol ? 0.9 * (10 / 36) : 0.9 / 36;
}

/** Witten-Bell chain: each order of context leans on the shorter one by the number of kinds seen after it. */
function trigramLevels(counts: Float64Array): Uint8Array {
  const n = symbolCount;
  const unigrams = new Float64Array(n);
  const bigrams = new Float64Array(n * n);
  counts.forEach((count, index) => {
    add(unigrams, index % n, count);
    add(bigrams, index % (n * n), count);
  });
  const total = unigrams.reduce((sum, count) => sum + count, 0);
  const chance1 = unigrams.map((count) => (count + 1) / (total + n));
  const chance2 = smoothed(bigrams, chance1, 1);
  const chance3 = smoothed(counts, chance2, 2);
  return Uint8Array.from({ length: n ** 3 }, (_, index) => {
    const symbol = index % n;
    const human = 0.25 * Math.log(chance2[index % (n * n)] ?? 1) + 0.75 * Math.log(chance3[index] ?? 1);
    return levelOf(Math.log(randomChance(symbol)) - human);
  });
}

function smoothed(counts: Float64Array, lower: Float64Array, leaning: number): Float64Array {
  const n = symbolCount;
  const chances = new Float64Array(counts.length);
  for (let context = 0; context < counts.length / n; context++) {
    const row = counts.subarray(context * n, context * n + n);
    const sum = row.reduce((total, count) => total + count, 0);
    const seen = row.reduce((total, count) => total + (count > 0 ? 1 : 0), 0);
    const weight = leaning * Math.max(1, seen) * 2;
    row.forEach((count, symbol) => {
      const index = context * n + symbol;
      chances[index] = (count + weight * (lower[index % lower.length] ?? 0)) / (sum + weight);
    });
  }
  return chances;
}

function kindLevels(counts: Float64Array): Uint8Array {
  const chanceOfKind = new Float64Array(kindCount);
  for (let symbol = 0; symbol < symbolCount; symbol++) {
    add(chanceOfKind, kindOfSymbol[symbol] ?? 0, randomChance(symbol));
  }
  // Each context of four kinds leans on the shorter one, down to no context at all.
  let lower: Float64Array = Float64Array.from({ length: kindCount }, () => 1 / kindCount);
  for (let order = 1; order <= kindOrder; order++) {
    const size = kindCount ** order;
    const pooled = new Float64Array(size);
    counts.forEach((count, index) => {
      add(pooled, index % size, count);
    });
    const chances = new Float64Array(size);
    for (let context = 0; context < size; context += kindCount) {
      let sum = 0;
      for (let kind = 0; kind < kindCount; kind++) sum += pooled[context + kind] ?? 0;
      for (let kind = 0; kind < kindCount; kind++) {
        const below = lower[(context + kind) % lower.length] ?? 0;
        chances[context + kind] = ((pooled[context + kind] ?? 0) + 12 * below) / (sum + 12);
      }
    }
    lower = chances;
  }
  return Uint8Array.from(lower, (chance, index) =>
    levelOf(Math.log(chanceOfKind[index % kindCount] ?? 1) - Math.log(chance)),
  );
}

function modelOf(counts: Counts): GibberishModel {
  return {
    trigrams: trigramLevels(counts.trigrams),
    kinds: kindLevels(counts.kinds),
    weights: [],
    calibration: new Float64Array(0),
  };
}

function examplesOf(
  groups: readonly TokenGroup[],
  models: readonly GibberishModel[],
  random: () => number,
): Example[] {
  const examples: Example[] = [];
  const measured = (local: string, model: GibberishModel, isGibberish: boolean) => {
    const reading = createLocalReading();
    readLocal(local, 0, local.length, model, reading);
    const { measures, letters, digits } = reading;
    examples.push({ measures: [...measures], length: letters + digits, isGibberish });
  };
  const sizes = groups.map((group) => Math.sqrt(localsOf(group)));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  groups.forEach((group, index) => {
    const model = models[group.fold];
    if (model === undefined) throw new Error(`no model for fold ${group.fold}`);
    const count = Math.ceil((fittedLocals * (sizes[index] ?? 0)) / total);
    const name = () => pick(group.first.length > 0 ? group.first : group.words, random);
    for (let i = 0; i < count; i++) {
      measured(humanLocal(group, random), model, false);
      measured(randomLocal(random, name), model, true);
    }
  });
  return examples;
}

/** Fits everything; about four seconds. The same sources give the same model. */
function fitGibberishModel(): GibberishModel {
  const random = seededRandom(20_260_901);
  const groups = tokenGroups(random);
  const foldCounts = Array.from({ length: foldCount }, emptyCounts);
  for (const group of groups) {
    const counts = foldCounts[group.fold];
    if (counts === undefined) throw new Error(`no fold ${group.fold}`);
    for (let i = localsOf(group); i > 0; i--) countLocal(humanLocal(group, random), counts);
  }
  const models = foldCounts.map((left) => modelOf(sumOf(foldCounts.filter((counts) => counts !== left))));
  const fitted = groups.filter((group) => group.isVowelless !== true);
  const examples = examplesOf(fitted, models, seededRandom(7));
  const ofAllLengths = { weights: fittedWeights(examples), hold: lengthClassHold };
  const weights = Array.from({ length: lengthClassCount }, (_, lengthClass) =>
    fittedWeights(
      examples.filter(({ length }) => lengthClassOf(length) === lengthClass),
      ofAllLengths,
    ),
  );
  const points = examplesOf(fitted, models, seededRandom(8)).map((example) => ({
    logit: logitOf(example.measures, example.length, weights),
    isGibberish: example.isGibberish,
    weight: weightOf(example),
  }));
  return { ...modelOf(sumOf(foldCounts)), weights, calibration: isotonic(points) };
}

export const tables: readonly GeneratedTable[] = [
  {
    path: "src/verification/email/data/gibberish.txt",
    build: () => encodeGibberishModel(fitGibberishModel()),
  },
];
