/** What the providers' names are compared with: families of names, and the names to leave alone or to distrust. */
import notTyposText from "./data/not-typos.txt" with { type: "text" };
import squatsText from "./data/typo-squats.txt" with { type: "text" };
import { letterMask } from "./edit-cost.ts";
import { allProviders, typoTargets } from "./providers.ts";

/** Providers that share the first label, and the rest of their names. */
export type Family = {
  readonly head: string;
  readonly letters: number;
  /** Three letters in a row at least: names such as 163 have no slips of their own. */
  readonly isWord: boolean;
  /** Of the most used of them. */
  readonly weight: number;
  /** Rest of the name to share of use, by falling use. */
  readonly tails: ReadonlyMap<string, number>;
};

const UNKNOWN_WEIGHT = 0.5;

/** Tables that a name which may be a slip is looked up in. */
export type TypoTables = {
  readonly families: readonly Family[];
  readonly familyOfHead: ReadonlyMap<string, Family>;
  /** Names of much used providers without their dots, for a dot that is missing or has slipped. */
  readonly undotted: ReadonlyMap<string, string>;
  /** Every mailbox provider's name without its dots, with and without its hyphens, for text that has none and so cannot be right as it stands. */
  readonly dotless: ReadonlyMap<string, string>;
};

/** Misspelled names that others than the provider own, with the provider's. */
export const squats: ReadonlyMap<string, string> = squatsOf(squatsText);
/** Names in their own right that lie close to a provider's. */
export const notTypos: ReadonlySet<string> = new Set(
  notTyposText
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" ")),
);

let made: TypoTables | undefined;

/** Returns the tables. They are made when they are first asked for: most threads, and the first calls, never do. */
export function typoTables(): TypoTables {
  if (made !== undefined) return made;
  const families = familiesOf();
  const familyOfHead = new Map(families.map((family) => [family.head, family]));
  made = { families, familyOfHead, undotted: undottedTargets(), dotless: dotlessNames() };
  return made;
}

function familiesOf(): readonly Family[] {
  const weights = new Map(typoTargets().map(({ domain, weight }) => [domain, weight]));
  const byHead = new Map<string, Map<string, number>>();
  for (const { domain } of typoTargets()) byHead.set(headOf(domain), new Map());
  for (const [domain, provider] of allProviders()) {
    if (provider.kind !== "mailbox") continue;
    byHead.get(headOf(domain))?.set(tailOf(domain), weights.get(domain) ?? UNKNOWN_WEIGHT);
  }
  return [...byHead].map(([head, tails]) => {
    const ordered = [...tails].sort((a, b) => b[1] - a[1]);
    return {
      head,
      letters: letterMask(head),
      isWord: /[a-z]{3}/.test(head),
      weight: ordered[0]?.[1] ?? 0,
      tails: new Map(ordered),
    };
  });
}

function squatsOf(text: string): ReadonlyMap<string, string> {
  const squats = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [target = "", domains = ""] = line.split("\t");
    if (!line.startsWith("#")) for (const domain of domains.split(" ")) squats.set(domain, target);
  }
  return squats;
}

function undottedTargets(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { domain, weight } of typoTargets()) {
    if (weight < 3) continue;
    for (const name of [domain.replaceAll(".", ""), domain.replace(/[.-]/g, "")]) {
      if (name.length >= 6 && !names.has(name)) names.set(name, domain);
    }
  }
  return names;
}

function dotlessNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { domain } of typoTargets()) keepFirst(names, domain);
  for (const [domain, { kind }] of allProviders()) if (kind === "mailbox") keepFirst(names, domain);
  return names;
}

/** The first is the most used. */
function keepFirst(names: Map<string, string>, domain: string): void {
  for (const name of [domain.replaceAll(".", ""), domain.replace(/[.-]/g, "")]) {
    if (!names.has(name)) names.set(name, domain);
  }
}

/** Returns the first label of a domain. */
export function headOf(domain: string): string {
  const dot = domain.indexOf(".");
  return dot === -1 ? domain : domain.slice(0, dot);
}

/** Returns what follows the first label of a domain; empty where there is no dot. */
export function tailOf(domain: string): string {
  return domain.slice(headOf(domain).length + 1);
}
