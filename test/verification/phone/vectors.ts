import type { PhoneRegion } from "../../../src/verification/phone/phone-number.ts";
import { readCountry } from "../../../src/verification/phone/region.ts";

const FOLDER = new URL("../../vectors/phone/", import.meta.url);

/** The rows of a vector file, cut at tabs; the first column is written as in a JSON string. */
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

/** The region of a vector's column, `-` for none. */
export function regionOf(column: string): PhoneRegion | undefined {
  if (column === "-") return undefined;
  const region = readCountry(column);
  if (region === null) throw new Error(`vector names an unknown country: ${column}`);
  return region;
}
