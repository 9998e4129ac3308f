import { type DomainVerdict, verifyDomain } from "../verification/email/domain-verdict.ts";
import { NO_DOMAIN, NUMBERS_PER_OFFSET, type SharedBuffer, type VerifyTask } from "./messages.ts";

/** Returns what follows from the facts about an item's mail domain; undefined where it has none, or none are known. */
export type DomainVerdictAt = (position: number) => DomainVerdict | undefined;

/** Domains whose facts are remembered from chunk to chunk. */
const DOMAINS_MAX = 16_384;

/**
 * The same facts come with many chunks: each are read from their buffer and assessed once. Keys are numbered on, so
 * each has a slot of its own until there are more than slots; then the new take those of the oldest.
 */
export function createVerdictCache(
  domainsMax = DOMAINS_MAX,
): (task: Pick<VerifyTask, "facts" | "domainNumbers">) => DomainVerdictAt {
  const keys = new Float64Array(domainsMax);
  const remembered: (DomainVerdict | undefined)[] = new Array(domainsMax);

  function assess(buffers: readonly SharedBuffer[], key: number, start: number, end: number): DomainVerdict {
    const buffer = buffers.findLast(({ firstKey }) => firstKey <= key);
    if (buffer === undefined) throw new Error("facts in a buffer that was not transferred");
    const verdict = verifyDomain(JSON.parse(Buffer.from(buffer.memory).toString("utf8", start, end)));
    const slot = key % domainsMax;
    keys[slot] = key;
    remembered[slot] = verdict;
    return verdict;
  }

  return ({ facts, domainNumbers }) => {
    if (facts === null || domainNumbers === null) return () => undefined;
    const numbers = new Float64Array(facts.offsets);
    return (position) => {
      const domainNumber = domainNumbers[position] ?? NO_DOMAIN;
      if (domainNumber === NO_DOMAIN) return undefined;
      const at = domainNumber * NUMBERS_PER_OFFSET;
      const key = numbers[at] ?? 0;
      if (key === 0) return undefined;
      const slot = key % domainsMax;
      const known = keys[slot] === key ? remembered[slot] : undefined;
      return known ?? assess(facts.buffers, key, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0);
    };
  };
}
