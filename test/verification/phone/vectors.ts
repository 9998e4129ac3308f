import type { PhoneRegion } from "../../../src/verification/phone/phone-number.ts";
import { readCountry } from "../../../src/verification/phone/region.ts";

const FOLDER = new URL("../../vectors/phone/", import.meta.url);

/** Returns the rows of a vector file, split at tabs; the first column is written as in a JSON string. */
export async function readVectors(file: string): Promise<string[][]> {
  const text = await Bun.file(new URL(file, FOLDER)).text();
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [first = "", ...rest] = line.split("\t");
      return [JSON.parse(`"${first}"`), ...rest];
    });
}

/** Returns the region in a column of a vector, `-` for none. */
export function regionOf(column: string): PhoneRegion | undefined {
  if (column === "-") return undefined;
  const region = readCountry(column);
  if (region === null) throw new Error(`vector names an unknown country: ${column}`);
  return region;
}
