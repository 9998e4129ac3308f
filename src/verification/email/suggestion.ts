/**
 * Suggestions for mistyped domains. A wrong suggestion costs more than a missed typo: only near misses of well-known
 * providers and TLDs that do not exist are corrected, never a known domain, and one that accepts mail only where it is
 * a typosquat or a homograph, which accents alone make of the largest providers only.
 */
import { bestTail, type Candidate, isBetter, tailFor } from "./domain-end.ts";
import type { MailEvidence } from "./domain-facts.ts";
import { editCost, leastEditCost, letterMask } from "./edit-cost.ts";
import { lookAlike } from "./look-alike.ts";
import { isIcannTld, parseDomain } from "./mail-domain.ts";
import { allProviders, providerOf } from "./providers.ts";
import { withRepairedTld } from "./tld-repair.ts";
import { headOf, notTypos, squats, tailOf, typoTables } from "./typo-families.ts";

/** A longer domain gets no suggestion. */
export const DOMAIN_LENGTH_MAX = 80;

/**
 * Returns the domain that was meant where `domain` looks mistyped, else null. `domain` is in lower case and A-labels,
 * or the raw text of one that could not be parsed. Takes bounded time, about 1 µs for a domain unlike any provider's.
 *
 * @example suggestDomain("gmial.com", "unknown") // "gmail.com"
 */
export function suggestDomain(domain: string, mail: MailEvidence): string | null {
  if (domain.length < 3 || domain.length > DOMAIN_LENGTH_MAX) return null;
  const meant = domainMeantBy(domain, mail);
  if (meant === null || allProviders().has(meant)) return meant;
  // Repaired text may join two addresses, or keep a fault of another label than the one that was repaired.
  return INNER_AT_SIGN.test(domain) || !parseDomain(meant).ok ? null : meant;
}

/** An `@` between other characters, as in two addresses without a separator that was read as one. */
const INNER_AT_SIGN = /[^\s.@][\s.@]*@[\s.@]*[^\s.@]/;

function domainMeantBy(domain: string, mail: MailEvidence): string | null {
  const name = tidied(domain);
  if (providerOf(name) !== undefined) return name === domain ? null : name;
  const squatted = squats.get(name);
  if (squatted !== undefined) return squatted;
  const homograph = lookAlike(name, mail);
  if (homograph !== null) return homograph;
  if (mail === "works" || notTypos.has(name)) return null;
  if (name.startsWith("www.") && providerOf(name.slice(4)) !== undefined) return name.slice(4);
  const dotted = typoTables().undotted.get(name.replaceAll(".", "").replaceAll("_", ""));
  if (dotted !== undefined) return dotted;
  if (!name.includes(".")) return withoutTail(name);
  const repaired = withRepairedTld(name);
  const known =
    repaired === null || providerOf(repaired) !== undefined ? repaired : lookAlike(repaired, mail);
  return known ?? nearestProvider(name, mail) ?? repaired;
}

/** Removes typos beside a dot or the `@`: commas, spaces, doubled and trailing dots. */
function tidied(domain: string): string {
  if (/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(domain)) return domain;
  return domain
    .replace(/[,;:\s>/\\'"@]/g, ".")
    .replace(/\.{2,}/g, ".")
    .replace(/^[.]|[.]$/g, "")
    .replace(/[^a-z0-9]$/, "");
}

/** Returns the domain that was meant by one without a dot, as in `user@gmail`. */
function withoutTail(name: string): string | null {
  const { dotless, familyOfHead, undotted } = typoTables();
  const undottedDomain = dotless.get(name) ?? dotless.get(name.replace(/[-_]/g, ""));
  if (undottedDomain !== undefined) return undottedDomain;
  const family = familyOfHead.get(name);
  if (family !== undefined && family.weight >= 20) return bestTail(family, "", true)?.domain ?? null;
  for (const [undottedName, domain] of undotted) {
    if (undottedName.length >= 8 && editCost(name, undottedName, 0.6) <= 0.6) return domain;
  }
  return null;
}

function nearestProvider(name: string, mail: MailEvidence): string | null {
  const head = headOf(name);
  const tail = tailOf(name);
  const isReal = isIcannTld(tail.slice(tail.lastIndexOf(".") + 1));
  const allowance = !isReal ? "unreal" : mail === "none" ? "denied" : "real";
  const letters = letterMask(head);
  let best: Candidate | null = null;
  for (const family of typoTables().familiesNear.get(head.length) ?? []) {
    const isExact = family.head === head;
    const costMax = isExact || head.length <= 3 ? 0 : family.headCostMax[allowance];
    if (leastEditCost(letters, family.letters, head.length - family.head.length) > costMax) continue;
    const headCost = isExact ? 0 : editCost(head, family.head, costMax);
    if (headCost > costMax) continue;
    const end = tailFor(family, tail, isReal, headCost === 0, mail);
    if (end === null) continue;
    const candidate = { domain: end.domain, cost: headCost + end.cost, weight: end.weight };
    if (best === null || isBetter(candidate, best)) best = candidate;
  }
  return best?.domain ?? null;
}
