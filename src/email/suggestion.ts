/**
 * The domain that was probably meant. Silence is the rule: a suggestion for a domain that is right costs more than
 * a slip that goes by, so it speaks only of near misses of well-known providers and of top-level domains that do
 * not exist, and never where the domain is known or takes mail.
 */
import { getPublicSuffix } from "tldts";
import notTyposText from "./data/not-typos.txt" with { type: "text" };
import squatsText from "./data/typo-squats.txt" with { type: "text" };
import { editCost, leastEditCost, letterMask, SLIPS } from "./edit-cost.ts";
import { isIcannTld } from "./mail-domain.ts";
import { allProviders, providerOf, typoTargets } from "./providers.ts";

/** What the DNS says: mail is taken, mail cannot be taken, or nothing certain. */
export type MailEvidence = "works" | "none" | "unknown";

/** Providers that share the first label, and the rest of their names. */
type Family = {
  readonly head: string;
  readonly letters: number;
  /** Three letters in a row at least: names such as 163 have no slips of their own. */
  readonly isWord: boolean;
  /** Of the most used of them. */
  readonly weight: number;
  /** Rest of the name to share of use, by falling use. */
  readonly tails: ReadonlyMap<string, number>;
};

const DOMAIN_LENGTH_MAX = 80;
const UNKNOWN_WEIGHT = 0.5;

const families = familiesOf();
const familyOfHead = new Map(families.map((family) => [family.head, family]));
const squats = squatsOf(squatsText);
const notTypos: ReadonlySet<string> = new Set(
  notTyposText
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .flatMap((line) => line.split(" ")),
);
const undotted = undottedTargets();

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

/** Names without their dots, for a dot that is missing or has slipped. */
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

function headOf(domain: string): string {
  const dot = domain.indexOf(".");
  return dot === -1 ? domain : domain.slice(0, dot);
}

function tailOf(domain: string): string {
  return domain.slice(headOf(domain).length + 1);
}

/**
 * The domain that was meant where `domain` (lower case, A-label form, or the raw text of a domain that could not be
 * read) looks like a slip, else null. Bounded in time; about a microsecond for a domain like no provider's.
 *
 * @example suggestDomain("gmial.com", "unknown") // "gmail.com"
 */
export function suggestDomain(domain: string, mail: MailEvidence): string | null {
  if (domain.length < 3 || domain.length > DOMAIN_LENGTH_MAX) return null;
  const name = tidied(domain);
  if (providerOf(name) !== undefined) return name === domain ? null : name;
  const squatted = squats.get(name);
  if (squatted !== undefined) return squatted;
  if (mail === "works" || notTypos.has(name)) return null;
  if (name.startsWith("www.") && providerOf(name.slice(4)) !== undefined) return name.slice(4);
  const dotted = undotted.get(name.replaceAll(".", ""));
  if (dotted !== undefined) return dotted;
  if (!name.includes(".")) return withoutTail(name);
  return nearestProvider(name, mail) ?? withRepairedTld(name);
}

/** What a slip next to the full stop or the @ leaves behind: commas, spaces, doubled and trailing dots. */
function tidied(domain: string): string {
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(domain)) return domain;
  return domain
    .replace(/[,;:\s>/\\'"@]/g, ".")
    .replace(/\.{2,}/g, ".")
    .replace(/^[.]|[.]$/g, "")
    .replace(/[^a-z0-9]$/, "");
}

/** A provider's name alone, as in `user@gmail`. */
function withoutTail(name: string): string | null {
  const family = familyOfHead.get(name);
  if (family !== undefined && family.weight >= 20) return bestTail(family, "", true)?.domain ?? null;
  for (const [undottedName, domain] of undotted) {
    if (undottedName.length >= 8 && editCost(name, undottedName, 0.6) <= 0.6) return domain;
  }
  return null;
}

type Candidate = { readonly domain: string; readonly cost: number; readonly weight: number };

function nearestProvider(name: string, mail: MailEvidence): string | null {
  const head = headOf(name);
  const tail = tailOf(name);
  const isReal = isIcannTld(tail.slice(tail.lastIndexOf(".") + 1));
  const letters = letterMask(head);
  let best: Candidate | null = null;
  for (const family of families) {
    const difference = head.length - family.head.length;
    if (Math.abs(difference) > 2) continue;
    const least = leastEditCost(letters, family.letters, difference);
    if (least > HEAD_COST_MAX) continue;
    const isExact = family.head === head;
    const costMax = isExact ? 0 : headCostMax(family, head, isReal, mail);
    if (least > costMax) continue;
    const headCost = isExact ? 0 : editCost(head, family.head, costMax);
    if (headCost > costMax) continue;
    const end = tailFor(family, tail, isReal, headCost === 0, mail);
    if (end === null) continue;
    const candidate = { domain: end.domain, cost: headCost + end.cost, weight: end.weight };
    if (best === null || isBetter(candidate, best)) best = candidate;
  }
  return best?.domain ?? null;
}

function isBetter(a: Candidate, b: Candidate): boolean {
  return rank(a.cost, a.weight) < rank(b.cost, b.weight);
}

/** Cheaper first; ten times the use makes up for a fifth of a slip. */
function rank(cost: number, weight: number): number {
  return cost - Math.log10(weight) / 5;
}

/** The most that any name allows. */
const HEAD_COST_MAX = 1.95;

/**
 * How much may be wrong with the first label. Short names lie close to other names and little used ones are seldom
 * meant, so both must be nearer; more is allowed where the domain cannot be right as it stands.
 */
function headCostMax(family: Family, head: string, isReal: boolean, mail: MailEvidence): number {
  const { length } = family.head;
  if (head.length <= 3 || !family.isWord) return 0;
  const alive = base(length, family.weight);
  if (!isReal) return alive + (length >= 5 ? 0.55 : 0.15);
  return mail === "none" ? Math.max(deadBase(length, family.weight), alive) : alive;
}

function base(length: number, weight: number): number {
  if (length === 3) return weight >= 10 ? 0.45 : 0;
  if (length === 4) return weight >= 20 ? 0.55 : weight >= 4 ? 0.5 : 0;
  if (weight >= 40) return length >= 7 ? 1.0 : 0.95;
  if (length === 5) return weight >= 10 ? 0.65 : 0.55;
  if (length === 6) return weight >= 20 ? 0.9 : weight >= 14 ? 0.8 : 0.6;
  if (length >= 9) return length === 9 ? 1 : 1.4;
  return weight >= 8 ? 0.9 : weight >= 6 ? 0.85 : 0.65;
}

/** For a domain that takes no mail: any one slip of the fingers, and in long names of much use any one letter. */
function deadBase(length: number, weight: number): number {
  if (length <= 4) return weight >= 4 ? (length === 3 ? 0.65 : 0.95) : 0;
  if (weight >= 40) return length >= 7 ? 1.5 : 1.2;
  return weight >= 4 ? 0.95 : 0.65;
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

function tailFor(
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
  const end = isPublicSuffix(tail) ? null : slippedEnd(family, tail);
  return end ?? (isWrongEverywhere(family, tail, mail) ? deadEnd(family, tail) : null);
}

/** Short or little used names stand under `.co` and the like in their own right. */
function isWidelyMeant(family: Family, tail: string, mail: MailEvidence): boolean {
  if (tail.includes(".")) return family.weight >= 3;
  if (mail === "none") return family.head.length >= 4;
  return family.head.length >= (family.weight >= 10 ? 5 : family.weight >= 5 ? 7 : 9);
}

/** A second level that nobody sells names under, one slip from one that is sold: `con.br`, `vo.uk`. */
function slippedEnd(family: Family, tail: string): Candidate | null {
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
  if (!isPublicSuffix(tail)) return false;
  if (mail === "none") return family.head.length >= 5;
  return family.weight >= 40 && (family.head === "gmail" || tail === "net" || tail === "org");
}

/** The end that is one key away, else the most used one of a name that is meant by nothing else. */
function deadEnd(family: Family, tail: string): Candidate | null {
  for (const [meant, weight] of family.tails) {
    const cost = tail.length === 2 ? editCost(tail, meant, DEAD_END_MAX) : Number.POSITIVE_INFINITY;
    if (cost <= DEAD_END_MAX) return { domain: `${family.head}.${meant}`, cost, weight };
  }
  return family.weight >= 40 ? bestTail(family, "", true) : null;
}

/** An end under which names are sold, and not somebody's own domain. */
function isPublicSuffix(tail: string): boolean {
  return getPublicSuffix(`a.${tail}`, { extractHostname: false, mixedInputs: false }) === tail;
}

/** The nearest end of the family's names; with nothing to go by, the most used. */
function bestTail(family: Family, tail: string, isHeadExact: boolean): Candidate | null {
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

const TLDS_MEANT: readonly string[] = ["com", "net", "org", "edu"];
const TLD_COST_MAX = 0.9;
const PAIRED_TLDS: ReadonlyMap<string, string> = new Map([
  ["couk", "co.uk"],
  ["co.u", "co.uk"],
  ["co.k", "co.uk"],
  ["co.ik", "co.uk"],
  ["co.yk", "co.uk"],
  ["co.uj", "co.uk"],
  ["co.ul", "co.uk"],
  ["co.ukk", "co.uk"],
  ["co.uuk", "co.uk"],
  ["c.ouk", "co.uk"],
  ["combr", "com.br"],
  ["comau", "com.au"],
  ["commx", "com.mx"],
  ["comtr", "com.tr"],
  ["cojp", "co.jp"],
  ["coin", "co.in"],
  ["conz", "co.nz"],
  ["coza", "co.za"],
]);

/** Any name under a top-level domain that does not exist and is one slip from a common one. */
function withRepairedTld(name: string): string | null {
  const labels = name.split(".");
  const tld = labels.at(-1) ?? "";
  if (isIcannTld(tld) || labels.some((label) => label === "")) return null;
  const pair = labels.length > 2 ? PAIRED_TLDS.get(labels.slice(-2).join(".")) : undefined;
  if (pair !== undefined) return [...labels.slice(0, -2), pair].join(".");
  const joined = PAIRED_TLDS.get(tld);
  if (joined !== undefined) return [...labels.slice(0, -1), joined].join(".");
  let best = "";
  let least = TLD_COST_MAX;
  for (const meant of TLDS_MEANT) {
    const cost = editCost(tld, meant, TLD_COST_MAX);
    if (cost <= least && (cost < least || best === "")) {
      least = cost;
      best = meant;
    }
  }
  return best === "" ? null : [...labels.slice(0, -1), best].join(".");
}
