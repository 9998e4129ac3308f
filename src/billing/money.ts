/** Money is integer micro-USD: 1 USD = 1,000,000. */
export const MICRO_USD_PER_USD = 1_000_000;

/** The largest amount that is read: a thousand million dollars, far inside the exact integers. */
const USD_DIGITS_MAX = 9;

const AMOUNT = /^(\d+)(?:\.(\d{1,6}))?$/;

/** Reads "12", "12.5" or "12.000001" as micro-USD; null where the text is no such amount. */
export function parseUsd(text: string): number | null {
  if (text.length > USD_DIGITS_MAX + 7) return null;
  const match = AMOUNT.exec(text);
  const whole = match?.[1];
  if (whole === undefined || whole.length > USD_DIGITS_MAX) return null;
  const fraction = (match?.[2] ?? "").padEnd(6, "0");
  return Number(whole) * MICRO_USD_PER_USD + Number(fraction);
}

/** Writes an amount ≥ 0 with as many decimals as it needs, at least two and at most six: "29.00", "9.860215". */
export function formatUsd(microUsd: number): string {
  return formatUsdFixed(microUsd, 6).replace(/0{1,4}$/, "");
}

/** Writes an amount ≥ 0 with exactly that many decimals; what does not fit is cut off. */
export function formatUsdFixed(microUsd: number, decimals: 2 | 6): string {
  const whole = Math.floor(microUsd / MICRO_USD_PER_USD);
  const fraction = String(microUsd % MICRO_USD_PER_USD).padStart(6, "0");
  return `${whole}.${fraction.slice(0, decimals)}`;
}

/** The share `part / whole` of an amount, rounded half up. Exact for any integers, as it works in big ones. */
export function shareOf(microUsd: number, part: number, whole: number): number {
  return Number((BigInt(microUsd) * BigInt(part) * 2n + BigInt(whole)) / (BigInt(whole) * 2n));
}
