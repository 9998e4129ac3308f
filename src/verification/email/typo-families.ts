/** The tables of typo correction: families of providers' domains, typosquats, and genuine domains close to them. */
import notTyposText from "./data/not-typos.txt" with { type: "text" };
import squatsText from "./data/typo-squats.txt" with { type: "text" };
import { letterMask } from "./edit-cost.ts";
import { type HeadCosts, headCostsOf } from "./head-cost.ts";
import { allProviders, typoTargets } from "./providers.ts";

/** The domains of providers that share their first label. */
export type Family = {
  readonly head: string;
  readonly letters: number;
  readonly headCostMax: HeadCosts;
  /** The weight of the most used of them. */
  readonly weight: number;
  /** Share of use by the rest of the domain, descending. */
  readonly tails: ReadonlyMap<string, number>;
};

const UNKNOWN_WEIGHT = 0.5;

/** The tables in which a possible typo is looked up. */
export type TypoTables = {
  /** Families by the length of a typed first label: those whose own is at most `LENGTH_DIFFERENCE_MAX` from it. */
  readonly familiesNear: ReadonlyMap<number, readonly Family[]>;
  readonly familyOfHead: ReadonlyMap<string, Family>;
  /** Much used domains by their text without dots, for a dot that is missing or misplaced. */
  readonly undotted: ReadonlyMap<string, string>;
  /** All domains of mailbox providers by their text without dots, with hyphens or without, for text without dots. */
  readonly dotless: ReadonlyMap<string, string>;
};

/** Typosquats, which others than the provider own, with the provider's domain. */
export const squats: ReadonlyMap<string, string> = squatsOf(squatsText);
/** Genuine domains that are close to a provider's. */
export const notTypos: ReadonlySet<string> = new Set(
  notTyposText
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" ")),
);

let made: TypoTables | undefined;

/** Returns the tables, which are built on first use: most threads, and the first calls, never need them. */
export function typoTables(): TypoTables {
  if (made !== undefined) return made;
  const families = familiesOf();
  const familyOfHead = new Map(families.map((family) => [family.head, family]));
  const familiesNear = nearByLength(families);
  made = { familiesNear, familyOfHead, undotted: undottedTargets(), dotless: dotlessNames() };
  return made;
}

const LENGTH_DIFFERENCE_MAX = 2;

function nearByLength(families: readonly Family[]): ReadonlyMap<number, readonly Family[]> {
  const near = new Map<number, Family[]>();
  for (const family of families) {
    for (let by = -LENGTH_DIFFERENCE_MAX; by <= LENGTH_DIFFERENCE_MAX; by++) {
      const length = family.head.length + by;
      near.set(length, [...(near.get(length) ?? []), family]);
    }
  }
  return near;
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
    const weight = ordered[0]?.[1] ?? 0;
    return {
      head,
      letters: letterMask(head),
      headCostMax: headCostsOf(head, weight),
      weight,
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
  for (const [domain, { kind }] of allProviders()) {
    if (kind === "mailbox" && SECOND_LEVEL.test(domain)) addJoinedSecondLevel(names, domain);
  }
  return names;
}

/** A name of five letters or more below a country's second level. */
const SECOND_LEVEL = /^[a-z0-9-]{5,}\.(?:com?|ne|or)\.[a-z]{2}$/;

/** Adds the text of `yahoocom.br` and of `yahoo-com.br`, whose first dot is missing or a hyphen. */
function addJoinedSecondLevel(names: Map<string, string>, domain: string): void {
  for (const name of [domain.replaceAll(".", ""), domain.replace(".", "-").replace(".", "")])
    if (!names.has(name)) names.set(name, domain);
}

function dotlessNames(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { domain } of typoTargets()) keepFirst(names, domain);
  for (const [domain, { kind }] of allProviders()) if (kind === "mailbox") keepFirst(names, domain);
  return names;
}

/** Adds a domain unless its text is taken: the first domain is the most used. */
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
