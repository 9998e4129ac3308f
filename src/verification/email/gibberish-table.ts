import {
  type GibberishModel,
  kindCount,
  kindOrder,
  lengthClassCount,
  ratioLeast,
  ratioStep,
  symbolCount,
} from "./gibberish-model.ts";

const levels = 93;
const firstCode = 34;
const rowLength = symbolCount * symbolCount;

export const calibrationFrom = -12;
export const calibrationTo = 12;
export const calibrationStep = 0.5;

/** Returns the level nearest to a ratio. */
export function levelOf(ratio: number): number {
  return Math.min(levels - 1, Math.max(0, Math.round((ratio - ratioLeast) / ratioStep)));
}

function rowsOf(table: Uint8Array): string {
  let text = "";
  for (let i = 0; i < table.length; i++) {
    text += String.fromCharCode(firstCode + (table[i] ?? 0));
    if (i % rowLength === rowLength - 1 || i === table.length - 1) text += "\n";
  }
  return text;
}

/** Encodes the model as text: four lines of numbers, then one character for each entry of both tables. */
export function encodeGibberishModel(model: GibberishModel): string {
  return [
    "# Gibberish tables, fitted on @faker-js/faker (MIT) and role-based-email-addresses (MIT); written by data:refresh",
    ...model.weights.map((weights, lengthClass) => `weights${lengthClass}\t${weights.join(" ")}`),
    `calibration\t${model.calibration.join(" ")}`,
    "tables",
    rowsOf(model.trigrams) + rowsOf(model.kinds),
  ].join("\n");
}

/** Decodes the text of `encodeGibberishModel`. Throws where it is damaged, which is a bug. */
export function decodeGibberishModel(text: string): GibberishModel {
  const trigrams = new Uint8Array(symbolCount ** 3);
  const kinds = new Uint8Array(kindCount ** kindOrder);
  const calibrationAt = text.indexOf("calibration\t");
  const tablesAt = text.indexOf("\ntables\n");
  const numbers = (from: number) =>
    Float64Array.from(text.slice(text.indexOf("\t", from) + 1, text.indexOf("\n", from)).split(" "), Number);
  let entry = 0;
  for (let i = tablesAt + 8; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < firstCode) continue;
    const level = code - firstCode;
    if (level >= levels) throw new Error("gibberish table is damaged");
    if (entry < trigrams.length) trigrams[entry] = level;
    else kinds[entry - trigrams.length] = level;
    entry++;
  }
  if (tablesAt < 0 || entry !== trigrams.length + kinds.length) throw new Error("gibberish table is damaged");
  return {
    trigrams,
    kinds,
    weights: Array.from({ length: lengthClassCount }, (_, lengthClass) =>
      numbers(text.indexOf(`weights${lengthClass}\t`)),
    ),
    calibration: numbers(calibrationAt),
  };
}
