/** Corrects the tail of a domain, which is all behind its first label, where that is, or nearly is, a provider's. */
import { getPublicSuffix } from "tldts";
import type { MailEvidence } from "./domain-facts.ts";
import { editCost, SLIPS } from "./edit-cost.ts";
import type { Family } from "./typo-families.ts";

/** A domain that may have been meant, with the cost of the typo and the domain's share of use. */
export type Candidate = { readonly domain: string; readonly cost: number; readonly weight: number };

/** Returns whether candidate `a` is more likely than `b`. */
export function isBetter(a: Candidate, b: Candidate): boolean {
  return rank(a.cost, a.weight) < rank(b.cost, b.weight);
}

/** Returns a rank, lowest first: the cost less 0.2 for each tenfold of use. */
function rank(cost: number, weight: number): number {
  return cost - Math.log10(weight) / 5;
}

/** By tail, those that exist and are still most often typos of it behind the first label of a provider. */
const TAIL_SLIPS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["com", new Set(["co", "cm", "om", "cam", "com.co", "com.com", "co.com", "comm.com", "con.com", "com.cm"])],
  ["net", new Set(["ne", "et", "net.com", "com.net", "bet", "net.net"])],
  ["co.uk", new Set(["uk", "com.uk", "co.uk.com", "co.ug", "co.ua", "co.us"])],
  ["co.in", new Set(["com.in", "co.id.in"])],
  ["com.br", new Set(["co.br", "com.bt", "com.be", "com.bz"])],
  ["com.au", new Set(["co.au", "com.ai"])],
  ["co.jp", new Set(["com.jp", "co.ip"])],
]);

/** Returns the domain of a family that was most likely meant by a tail, with its cost; null where none is near. */
export function tailFor(
  family: Family,
  tail: string,
  isReal: boolean,
  isHeadExact: boolean,
  mail: MailEvidence,
): Candidate | null {
  const weight = family.tails.get(tail);
  if (weight !== undefined) return { domain: `${family.head}.${tail}`, cost: 0, weight };
  if (!isReal) return bestTail(family, tail, isHeadExact);
  for (const [meant, meantWeight] of family.tails) {
    if (TAIL_SLIPS.get(meant)?.has(tail) === true && isWidelyMeant(family, meant, mail)) {
      return { domain: `${family.head}.${meant}`, cost: 0.4, weight: meantWeight };
    }
  }
  if (!isHeadExact) return null;
  const end = isPublicSuffix(family, tail) ? null : secondLevelTypo(family, tail);
  return end ?? (isWrongEverywhere(family, tail, mail) ? replacedTail(family, tail) : null);
}

/** Returns whether the family is too well known for the tail: short or little used names are genuine under `.co`. */
function isWidelyMeant(family: Family, tail: string, mail: MailEvidence): boolean {
  if (tail.includes(".")) return family.weight >= 3;
  if (mail === "none") return family.head.length >= 4 || family.weight >= 10;
  return family.head.length >= (family.weight >= 10 ? 5 : family.weight >= 5 ? 7 : 9);
}

/** Corrects a second level that is no public suffix and one typo from one: `con.br`, `vo.uk`. */
function secondLevelTypo(family: Family, tail: string): Candidate | null {
  if (!tail.includes(".")) return null;
  const country = tail.slice(tail.indexOf("."));
  for (const [meant, weight] of family.tails) {
    if (!meant.endsWith(country) || meant.length === country.length - 1) continue;
    const cost = editCost(tail, meant, SECOND_LEVEL_COST_MAX);
    if (cost <= SECOND_LEVEL_COST_MAX) return { domain: `${family.head}.${meant}`, cost, weight };
  }
  return null;
}

const SECOND_LEVEL_COST_MAX = 0.95;
const COUNTRY_TLD_COST_MAX = 0.65;

/**
 * Returns whether a public suffix is a typo because the provider has no domain under it: always for gmail, for `.net`
 * and `.org` of the largest providers, and otherwise only where the DNS has no mail server.
 */
function isWrongEverywhere(family: Family, tail: string, mail: MailEvidence): boolean {
  if (!isPublicSuffix(family, tail)) return false;
  if (mail === "none") return family.head.length >= 5;
  return family.weight >= 40 && (family.head === "gmail" || tail === "net" || tail === "org");
}

/** Returns the tail that is one adjacent key away, else the most used one of a large provider. */
function replacedTail(family: Family, tail: string): Candidate | null {
  for (const [meant, weight] of family.tails) {
    // The dot keeps the tail's first letter from costing more, as the first letter of a name does.
    const cost =
      tail.length === 2 ? editCost(`.${tail}`, `.${meant}`, COUNTRY_TLD_COST_MAX) : Number.POSITIVE_INFINITY;
    if (cost <= COUNTRY_TLD_COST_MAX) return { domain: `${family.head}.${meant}`, cost, weight };
  }
  return family.weight >= 40 ? bestTail(family, "", true) : null;
}

/** Returns whether a tail is a public suffix, and not a registered domain. */
function isPublicSuffix(family: Family, tail: string): boolean {
  return getPublicSuffix(`${family.head}.${tail}`, { extractHostname: false, mixedInputs: false }) === tail;
}

/** Returns the nearest tail of the family; for an empty one the most used. */
export function bestTail(family: Family, tail: string, isHeadExact: boolean): Candidate | null {
  let best: Candidate | null = null;
  const costMax = isHeadExact && !tail.includes(".") ? 2.2 : 1.3;
  for (const [meant, weight] of family.tails) {
    // Tails are in descending order of use: no later one can be better, however near.
    if (best !== null && rank(0, weight) >= rank(best.cost, best.weight)) break;
    const cost = tail === "" ? 0 : tailCost(tail, meant, costMax);
    const candidate = { domain: `${family.head}.${meant}`, cost: cost / 2, weight };
    if (cost <= costMax && (best === null || isBetter(candidate, best))) best = candidate;
  }
  const isSuffix = !tail.includes(".") || /^(?:com?|net|org)\./.test(tail);
  return (
    best ??
    (isHeadExact && tail !== "" && isSuffix && family.weight >= 40 ? bestTail(family, "", true) : null)
  );
}

/** Returns the cost of a tail; a truncated one costs as much as one missing letter. */
function tailCost(tail: string, meant: string, costMax: number): number {
  if (meant.startsWith(tail)) return SLIPS.missing;
  return tail.length > meant.length + 3 ? Number.POSITIVE_INFINITY : editCost(tail, meant, costMax);
}
