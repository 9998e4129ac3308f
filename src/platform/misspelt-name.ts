const FIELD_LENGTH_MAX = 64;

/**
 * Returns the first name of an object that is one of the fields but for its letters, or null: programs written in Go take it
 * for that field, others do not.
 */
export function misspeltName(
  object: { readonly [name: string]: unknown },
  fields: ReadonlySet<string>,
): string | null {
  const spellings = spellingsOf(fields);
  const isMisspelt = (name: string) => !fields.has(name) && spellings.has(folded(name));
  return Object.keys(object).find(isMisspelt) ?? null;
}

/** By the fields, which are constants. */
const known = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

function spellingsOf(fields: ReadonlySet<string>): ReadonlySet<string> {
  const before = known.get(fields);
  if (before !== undefined) return before;
  const spellings = new Set([...fields].map(folded));
  known.set(fields, spellings);
  return spellings;
}

/** In small letters, the long s and the sign of Kelvin too, which Go takes for an s and a k. */
function folded(name: string): string {
  return name.length > FIELD_LENGTH_MAX ? name : name.toUpperCase().toLowerCase();
}
