const VALUES = 36;

/** The next remainder by remainder and character: a look-up is four times as fast as a division. */
const steps = stepTable();

function stepTable(): Uint8Array {
  const table = new Uint8Array(97 * VALUES);
  for (let remainder = 0; remainder < 97; remainder++) {
    for (let value = 0; value < VALUES; value++) {
      table[remainder * VALUES + value] = (remainder * (value < 10 ? 10 : 100) + value) % 97;
    }
  }
  return table;
}

/**
 * Returns the remainder modulo 97 of the digits and upper-case letters in text[start, end), behind a text with the
 * remainder `carried`. A letter counts as two digits (A = 10 … Z = 35, ISO 7064 MOD 97-10).
 */
export function mod97(text: string, start = 0, end = text.length, carried = 0): number {
  let remainder = carried;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    remainder = steps[remainder * VALUES + (code < 58 ? code - 48 : code - 55)] ?? 0;
  }
  return remainder;
}
