/**
 * Returns a JSON value in its canonical form (RFC 8785, JCS): keys sorted by UTF-16 code units, numbers and strings as
 * ECMAScript writes them. Undefined fields are left out. Throws for what JSON cannot hold: NaN, infinities, lone
 * surrogates.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    const sorted = entries.sort(([first], [second]) => (first < second ? -1 : 1));
    return `{${sorted.map(([name, field]) => `${textJson(name)}:${canonicalJson(field)}`).join(",")}}`;
  }
  if (typeof value === "string") return textJson(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error("JSON has no such number");
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new Error(`JSON cannot hold a ${typeof value}`);
  return text;
}

function textJson(text: string): string {
  if (!text.isWellFormed()) throw new Error("JSON cannot hold half of a surrogate pair");
  return JSON.stringify(text);
}
