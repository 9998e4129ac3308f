/**
 * Returns a JSON value in its canonical form (RFC 8785, JCS): keys sorted by UTF-16 code units, numbers and strings as
 * ECMAScript writes them. Undefined fields are left out. Throws for what JSON cannot hold: NaN, infinities, lone
 * surrogates.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = value as { readonly [name: string]: unknown };
    // Without a comparison of our own the engine sorts by code units itself: ten times as fast for objects of many keys.
    const names = Object.keys(fields).filter((name) => fields[name] !== undefined);
    return `{${names
      .sort()
      .map((name) => `${textJson(name)}:${canonicalJson(fields[name])}`)
      .join(",")}}`;
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
