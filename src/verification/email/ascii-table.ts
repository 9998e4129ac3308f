/** A table over the 128 ASCII codes: `mark` for each of `characters`, zero for the rest. */
export function asciiTable(characters: string, mark: number): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)] = mark;
  return table;
}
