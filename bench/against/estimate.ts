import { median } from "../result.ts";

/**
 * The median of the means of all pairs (Hodges and Lehmann): a few rounds of a busy machine move it as little as they move
 * a median, and it needs two thirds of the rounds for the same precision.
 */
export function centreOf(values: readonly number[]): number {
  const means: number[] = [];
  for (const [at, value] of values.entries()) {
    for (const other of values.slice(at)) means.push((value + other) / 2);
  }
  return median(means);
}

/** Of a normal distribution: its standard deviation by the median distance from the centre. */
const DEVIATION_BY_DISTANCE = 1.4826;

/**
 * The standard error of the centre of all values. They come in groups, which may lie further apart than their values do:
 * the larger of what the values say by themselves and what the centres of the groups say.
 */
export function standardErrorOf(groups: readonly (readonly number[])[]): number {
  const values = groups.flat();
  const centre = centreOf(values);
  const distance = median(values.map((value) => Math.abs(value - centre)));
  const byValues = (DEVIATION_BY_DISTANCE * distance) / Math.sqrt(values.length);
  if (groups.length < 2) return byValues;
  const centres = groups.map(centreOf);
  const mean = centres.reduce((sum, each) => sum + each, 0) / centres.length;
  const squares = centres.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const byGroups = Math.sqrt(squares / (centres.length - 1) / centres.length);
  return Math.max(byValues, byGroups);
}
