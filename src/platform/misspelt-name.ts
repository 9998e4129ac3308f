import type { JsonObject } from "./json-value.ts";

const FIELD_LENGTH_MAX = 64;

/** Returns the first name of an object that is one of the fields but for its letters, or null. */
export type MisspeltName = (object: JsonObject) => string | null;

/** Creates the search for names that programs written in Go take for one of these fields, and others do not. */
export function createMisspeltName(fields: ReadonlySet<string>): MisspeltName {
  const spellings: ReadonlySet<string> = new Set([...fields].map(folded));
  const isMisspelt = (name: string) => !fields.has(name) && spellings.has(folded(name));
  return (object) => Object.keys(object).find(isMisspelt) ?? null;
}

/** In small letters, the long s and the sign of Kelvin too, which Go takes for an s and a k. */
function folded(name: string): string {
  return name.length > FIELD_LENGTH_MAX ? name : name.toUpperCase().toLowerCase();
}
