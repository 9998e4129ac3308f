/** Creates a table by ASCII code: `mark` for each of `characters`, 0 for the rest. */
export function asciiTable(characters: string, mark: number): Uint8Array {
  const table = new Uint8Array(128);
  for (let at = 0; at < characters.length; at++) table[characters.charCodeAt(at)] = mark;
  return table;
}
