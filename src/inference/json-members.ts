import { createJsonScanner } from "./json-scanner.ts";

/** The range of a member's value in the text of a JSON object. */
export type Member = {
  readonly start: number;
  readonly end: number;
  /** By how many bytes it is longer than `JSON.stringify` writes it; numbers count as they are written. */
  readonly surplus: number;
};

export type Members = {
  /** Of duplicate names the last, as `JSON.parse` does. */
  readonly byName: ReadonlyMap<string, Member>;
  readonly count: number;
  /** Characters of all values, less their surplus. */
  readonly characters: number;
};

/**
 * Returns the members of an object in its text, or those with one of the names: a body may have thousands. The text must be
 * an object that `JSON.parse` accepts. Linear.
 */
export function findMembers(text: string, names: ReadonlySet<string> | null = null): Members {
  const byName = new Map<string, Member>();
  let count = 0;
  let characters = 0;
  const scanner = createJsonScanner(text);
  const { position, skipSpace, move } = scanner;
  /** Moves over one character and the spaces around it. */
  const passMark = (): void => {
    skipSpace();
    move(1);
    skipSpace();
  };
  passMark();
  while (text[position()] === '"') {
    const nameStart = position();
    scanner.passString();
    const quoted = text.slice(nameStart, position());
    const name: string = quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1);
    passMark();
    const [start, before] = [position(), scanner.surplus()];
    scanner.passValue();
    const [end, surplus] = [position(), scanner.surplus() - before];
    if (names?.has(name) !== false) byName.set(name, { start, end, surplus });
    count += 1;
    characters += end - start - surplus;
    passMark();
  }
  return { byName, count, characters };
}

/**
 * Sets some members in the text of a JSON object, and keeps everything else verbatim, such as numbers that JavaScript cannot
 * represent. Values are JSON. `known` are the members of the text with these names, where they are known already.
 */
export function withMembers(
  text: string,
  set: { readonly [name: string]: string },
  known: Members = findMembers(text),
): string {
  const replaced = Object.entries(set).flatMap(([name, json]) => {
    const member = known.byName.get(name);
    return member === undefined ? [] : [{ ...member, json }];
  });
  const added = Object.entries(set).filter(([name]) => !known.byName.has(name));
  let changed = text;
  for (const { start, end, json } of replaced.toSorted((a, b) => b.start - a.start)) {
    changed = changed.slice(0, start) + json + changed.slice(end);
  }
  if (added.length === 0) return changed;
  const close = changed.lastIndexOf("}");
  const fields = added.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",");
  return `${changed.slice(0, close)}${known.count > 0 ? "," : ""}${fields}${changed.slice(close)}`;
}
