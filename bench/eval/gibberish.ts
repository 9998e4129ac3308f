import { seededRandom } from "../../src/tools/data-refresh/gibberish-corpus.ts";
import { GIBBERISH_THRESHOLD, gibberishScore } from "../../src/verification/email/gibberish.ts";
import {
  generators,
  habitualLocal,
  heldOutAbbreviations,
  heldOutNames,
  heldOutVowellessNames,
  type LocalGroup,
  type NameGroup,
  pronounceable,
  type Random,
  writtenGroups,
} from "./gibberish-locals.ts";

const localsPerGroup = 600;
const randomPerGenerator = 2000;
const falseAlarmTarget = 0.01;
const falseAlarmMaxAtThreshold = 0.005;
const recallTarget = 0.9;
const assumedShare = 0.5;
/** The makers every figure of which must reach the target. */
const requiredGenerators = 5;

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`.padStart(8);
}

function shareAbove(scores: readonly number[], limit: number): number {
  return scores.filter((score) => score > limit).length / scores.length;
}

function scoresOf(
  make: (length: number, random: Random) => string,
  lengths: [number, number],
  seed: number,
): number[] {
  const random = seededRandom(seed);
  const [least, most] = lengths;
  return Array.from({ length: randomPerGenerator }, () =>
    gibberishScore(make(least + Math.floor(random() * (most - least + 1)), random)),
  );
}

function humanGroups(names: readonly NameGroup[]): LocalGroup[] {
  const random = seededRandom(4242);
  return names.map((group) => ({
    name: `${group.name} (${group.first.length + group.last.length} names)`,
    locals: Array.from({ length: localsPerGroup }, () => habitualLocal(group, random)),
  }));
}

function falseAlarmLines(title: string, groups: readonly LocalGroup[], limit: number): string[] {
  const lines = groups.map((group) => {
    const scores = group.locals.map(gibberishScore);
    const at1 = percent(shareAbove(scores, limit));
    return `  ${group.name.padEnd(38)}${at1}  ${percent(shareAbove(scores, GIBBERISH_THRESHOLD))}`;
  });
  return [`${title.padEnd(40)} at 1 %   at ${GIBBERISH_THRESHOLD}`, ...lines];
}

function calibrationLines(human: readonly number[], random: readonly number[]): string[] {
  const edges = [0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0001];
  const lines = edges.slice(1).map((to, i) => {
    const from = edges[i] ?? 0;
    const inBin = (scores: readonly number[]) => scores.filter((score) => score >= from && score < to);
    const humanWeight = (inBin(human).length / human.length) * (1 - assumedShare);
    const randomWeight = (inBin(random).length / random.length) * assumedShare;
    const all = humanWeight + randomWeight;
    const mean = (scores: readonly number[]) =>
      scores.reduce((sum, score) => sum + score, 0) / (scores.length || 1);
    const said = (mean(inBin(human)) * humanWeight + mean(inBin(random)) * randomWeight) / (all || 1);
    const seen = randomWeight / (all || 1);
    const range = `${from.toFixed(2)} to ${Math.min(1, to).toFixed(2)}`;
    return `  ${range}   said ${said.toFixed(3)}   seen ${seen.toFixed(3)}   ${percent(all)} of addresses`;
  });
  return [`calibration, every second address gibberish`, ...lines];
}

/**
 * Judges the gibberish score on names of locales, and on random text of makers, that took no part in fitting it.
 * `ok` holds the recall at 1 % false alarms for the five required makers and the false alarms at the threshold.
 */
export async function evaluateGibberish(): Promise<{ lines: string[]; ok: boolean }> {
  const groups = humanGroups(heldOutNames());
  const human = groups.flatMap((group) => group.locals.map(gibberishScore));
  const sorted = [...human].sort((a, b) => b - a);
  const limit = sorted[Math.floor(sorted.length * falseAlarmTarget)] ?? 1;
  const written = writtenGroups();
  const pooled: number[] = [];
  let ok = shareAbove(human, GIBBERISH_THRESHOLD) < falseAlarmMaxAtThreshold;
  const table = generators.map(([name, make], index) => {
    const long = scoresOf(make, [8, 16], 100 + index);
    const short = scoresOf(make, [6, 7], 200 + index);
    pooled.push(...long);
    if (index < requiredGenerators && shareAbove(long, limit) < recallTarget) ok = false;
    const at = (scores: number[]) =>
      `${percent(shareAbove(scores, limit))}  ${percent(shareAbove(scores, GIBBERISH_THRESHOLD))}`;
    return `  ${name.padEnd(22)}${at(long)}   ${at(short)}`;
  });
  const spoken = scoresOf(pronounceable, [8, 16], 300);
  const lines = [
    `gibberish: ${human.length} human locals of ${groups.length} held-out origins, ${generators.length} makers of random text`,
    `1 % false alarms above ${limit}; at the threshold ${GIBBERISH_THRESHOLD}: ${percent(shareAbove(human, GIBBERISH_THRESHOLD)).trim()}`,
    "recall                 8 to 16 letters          6 to 7 letters",
    "                        at 1 %      at 0.9       at 1 %      at 0.9",
    ...table,
    `  ${"pronounceable (CVCV)".padEnd(22)}${percent(shareAbove(spoken, limit))}  ${percent(shareAbove(spoken, GIBBERISH_THRESHOLD))}`,
    ...falseAlarmLines("false alarms by origin", groups, limit),
    ...falseAlarmLines("false alarms without vowels", humanGroups(heldOutVowellessNames()), limit),
    ...falseAlarmLines("false alarms on written locals", [...written, heldOutAbbreviations()], limit),
    ...calibrationLines(human, pooled),
  ];
  return { lines, ok };
}
