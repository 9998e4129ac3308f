/** Returns the noun of a count: `row` of 1, `rows` of any other. */
export function nounOf(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}
