/** What was meant by the end of a name whose first label is, or nearly is, a provider's. */
import { getPublicSuffix } from "tldts";
import type { MailEvidence } from "./domain-facts.ts";
import { editCost, SLIPS } from "./edit-cost.ts";
import type { Family } from "./typo-families.ts";

/** A domain that may have been meant, what the slip costs, and the domain's share of use. */
export type Candidate = { readonly domain: string; readonly cost: number; readonly weight: number };

/** Returns whether the first candidate was meant rather than the second. */
export function isBetter(a: Candidate, b: Candidate): boolean {
  return rank(a.cost, a.weight) < rank(b.cost, b.weight);
}

/** Cheaper first; ten times the use makes up for a fifth of a slip. */
function rank(cost: number, weight: number): number {
  return cost - Math.log10(weight) / 5;
}

/** Ends of a name that are real and still most often a slip for another, where the rest is a provider's. */
const TAIL_SLIPS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["com", new Set(["co", "cm", "om", "cam", "com.co", "com.com", "co.com", "comm.com", "con.com", "com.cm"])],
  ["net", new Set(["ne", "et", "net.com", "com.net", "bet", "net.net"])],
  ["co.uk", new Set(["uk", "com.uk", "co.uk.com", "co.ug", "co.ua", "co.us"])],
  ["co.in", new Set(["com.in", "co.id.in"])],
  ["com.br", new Set(["co.br", "com.bt", "com.be", "com.bz"])],
  ["com.au", new Set(["co.au", "com.ai"])],
  ["co.jp", new Set(["com.jp", "co.ip"])],
]);

/** Returns which domain of a family an end of a name was meant for, and at what cost; null where none is near. */
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
  const end = isPublicSuffix(family, tail) ? null : slippedEnd(family, tail);
  return end ?? (isWrongEverywhere(family, tail, mail) ? deadEnd(family, tail) : null);
}

/** Short or little used names stand under `.co` and the like in their own right. */
function isWidelyMeant(family: Family, tail: string, mail: MailEvidence): boolean {
  if (tail.includes(".")) return family.weight >= 3;
  if (mail === "none") return family.head.length >= 4 || family.weight >= 10;
  return family.head.length >= (family.weight >= 10 ? 5 : family.weight >= 5 ? 7 : 9);
}

/** A second level that nobody sells names under, one slip from one that is sold: `con.br`, `vo.uk`. */
function slippedEnd(family: Family, tail: string): Candidate | null {
  if (!tail.includes(".")) return null;
  const country = tail.slice(tail.indexOf("."));
  for (const [meant, weight] of family.tails) {
    if (!meant.endsWith(country) || meant.length === country.length - 1) continue;
    const cost = editCost(tail, meant, END_SLIP_MAX);
    if (cost <= END_SLIP_MAX) return { domain: `${family.head}.${meant}`, cost, weight };
  }
  return null;
}

const END_SLIP_MAX = 0.95;
const DEAD_END_MAX = 0.65;

/**
 * Whether a real end is a slip after all because the provider has no such domain: always for a name that has only
 * `.com`, for `.net` and `.org` of the largest, and otherwise only where the DNS knows of no mail.
 */
function isWrongEverywhere(family: Family, tail: string, mail: MailEvidence): boolean {
  if (!isPublicSuffix(family, tail)) return false;
  if (mail === "none") return family.head.length >= 5;
  return family.weight >= 40 && (family.head === "gmail" || tail === "net" || tail === "org");
}

/** The end that is one key away, else the most used one of a name that is meant by nothing else. */
function deadEnd(family: Family, tail: string): Candidate | null {
  for (const [meant, weight] of family.tails) {
    // In the middle of a name the first letter of its end is one like any other.
    const cost =
      tail.length === 2 ? editCost(`.${tail}`, `.${meant}`, DEAD_END_MAX) : Number.POSITIVE_INFINITY;
    if (cost <= DEAD_END_MAX) return { domain: `${family.head}.${meant}`, cost, weight };
  }
  return family.weight >= 40 ? bestTail(family, "", true) : null;
}

/** An end under which names are sold, and not somebody's own domain. */
function isPublicSuffix(family: Family, tail: string): boolean {
  return getPublicSuffix(`${family.head}.${tail}`, { extractHostname: false, mixedInputs: false }) === tail;
}

/** The nearest end of the family's names; with nothing to go by, the most used. */
export function bestTail(family: Family, tail: string, isHeadExact: boolean): Candidate | null {
  let best: Candidate | null = null;
  const costMax = isHeadExact ? 2.2 : 1.3;
  for (const [meant, weight] of family.tails) {
    // By falling use: no end that follows can be better, however near it is.
    if (best !== null && rank(0, weight) >= rank(best.cost, best.weight)) break;
    const cost = tail === "" ? 0 : tailCost(tail, meant, costMax);
    const candidate = { domain: `${family.head}.${meant}`, cost: cost / 2, weight };
    if (cost <= costMax && (best === null || isBetter(candidate, best))) best = candidate;
  }
  const isAnEnd = !tail.includes(".") || /^(?:com?|net|org)\./.test(tail);
  return (
    best ?? (isHeadExact && tail !== "" && isAnEnd && family.weight >= 40 ? bestTail(family, "", true) : null)
  );
}

/** An end that breaks off is one slip, however much of it is missing. */
function tailCost(tail: string, meant: string, costMax: number): number {
  if (meant.startsWith(tail)) return SLIPS.missing;
  return tail.length > meant.length + 3 ? Number.POSITIVE_INFINITY : editCost(tail, meant, costMax);
}
