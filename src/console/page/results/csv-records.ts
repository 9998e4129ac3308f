/** Splits CSV into its records, line ends included. Text comes in pieces. */
export function createCsvRecords(): (piece: string, isLast: boolean) => readonly string[] {
  let rest = "";
  let scanned = 0;
  let isQuoted = false;
  return (piece, isLast) => {
    const text = rest + piece;
    const records: string[] = [];
    let from = 0;
    for (let at = scanned; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === '"') isQuoted = !isQuoted;
      else if (character === "\n" && !isQuoted) {
        records.push(text.slice(from, at + 1));
        from = at + 1;
      }
    }
    rest = text.slice(from);
    scanned = rest.length;
    if (isLast && rest !== "") records.push(rest);
    return records;
  };
}
