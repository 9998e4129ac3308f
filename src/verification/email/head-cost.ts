/** What a typed domain says of itself: its TLD does not exist, the DNS denies its mail, or neither. */
export type HeadCosts = { readonly unreal: number; readonly denied: number; readonly real: number };

/**
 * Returns the highest cost of a typo in a provider's first label. Short names are close to other names and little used
 * ones are seldom meant, so both allow less; a domain that cannot be right allows more. Names without three letters in
 * a row, as 163, allow none.
 */
export function headCostsOf(head: string, weight: number): HeadCosts {
  if (!/[a-z]{3}/.test(head)) return { unreal: 0, denied: 0, real: 0 };
  const { length } = head;
  const real = costMaxOf(length, weight);
  return {
    unreal: real + (length >= 5 ? 0.55 : 0.15),
    denied: Math.max(costMaxWithoutMail(length, weight), real),
    real,
  };
}

function costMaxOf(length: number, weight: number): number {
  if (length === 3) return weight >= 10 ? 0.45 : 0;
  if (length === 4) return weight >= 20 ? 0.55 : weight >= 4 ? 0.5 : 0;
  if (weight >= 40) return length >= 7 ? 1.0 : 0.95;
  if (length === 5) return weight >= 10 ? 0.65 : 0.55;
  if (length === 6) return weight >= 20 ? 0.9 : weight >= 14 ? 0.8 : 0.6;
  if (length >= 9) return length === 9 ? 1 : 1.4;
  return weight >= 8 ? 0.9 : weight >= 6 || length === 8 ? 0.85 : 0.65;
}

/** Returns the highest cost for a domain without mail: any typing error, and any one letter in much used long names. */
function costMaxWithoutMail(length: number, weight: number): number {
  if (length === 3) return weight >= 4 ? 0.65 : 0;
  if (length === 4) return weight >= 4 ? 0.95 : weight >= 2 ? 0.65 : 0;
  if (weight >= 40) return length >= 7 ? 1.5 : 1.2;
  return weight >= 4 ? 0.95 : weight >= 2 ? 0.9 : 0.65;
}
