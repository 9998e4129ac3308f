/** Slips made by rule, to measure with what no one has picked. Each kind gives every slip of that kind. */

const ROWS: readonly string[] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

export type SlipKind = "missing" | "doubled" | "swapped" | "neighbour" | "end" | "dot";

/** How the ends of names are mistyped, by end. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  com: [
    "con",
    "cmo",
    "cm",
    "co",
    "om",
    "comm",
    "coom",
    "vom",
    "xom",
    "cpm",
    "ocm",
    "cim",
    "clm",
    "coml",
    "ccom",
    "comn",
  ],
  net: ["ner", "ney", "nte", "met", "nett", "nt", "ent"],
  de: ["ed", "dee", "dw", "d"],
  fr: ["ft", "rf", "frr", "f"],
  it: ["ti", "itt", "ut"],
  ru: ["tu", "ur", "rru"],
  "co.uk": ["couk", "co.u", "co.ik", "co.k", "co.ukk", "uk"],
  "com.br": ["combr", "com.b", "com.brr", "co.br"],
};

/** Every slip of each kind in a domain whose first label is the part people get wrong. */
export function slipsOf(domain: string): readonly (readonly [SlipKind, string])[] {
  const dot = domain.indexOf(".");
  const head = domain.slice(0, dot);
  const end = domain.slice(dot);
  const slips: [SlipKind, string][] = [];
  for (let at = 0; at < head.length; at++) {
    const letter = head.charAt(at);
    const before = head.slice(0, at);
    const after = head.slice(at + 1);
    slips.push(["missing", before + after + end], ["doubled", before + letter + letter + after + end]);
    const next = head.charAt(at + 1);
    if (next !== "" && next !== letter)
      slips.push(["swapped", before + next + letter + head.slice(at + 2) + end]);
    for (const key of neighboursOf(letter)) slips.push(["neighbour", before + key + after + end]);
  }
  for (const slip of ENDS[end.slice(1)] ?? []) slips.push(["end", `${head}.${slip}`]);
  slips.push(["dot", head + end.slice(1)]);
  return slips;
}

function neighboursOf(letter: string): string[] {
  const row = ROWS.findIndex((keys) => keys.includes(letter));
  if (row === -1) return [];
  const column = ROWS[row]?.indexOf(letter) ?? 0;
  const keyAt = (r: number, c: number): string => ROWS[r]?.charAt(c) ?? "";
  return [
    keyAt(row, column - 1),
    keyAt(row, column + 1),
    keyAt(row - 1, column),
    keyAt(row - 1, column + 1),
    keyAt(row + 1, column - 1),
    keyAt(row + 1, column),
  ].filter((key) => key !== "");
}
