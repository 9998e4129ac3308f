import { type DomainJudgement, judgeDomain } from "../verification/email/domain-verdict.ts";
import { type Board, type JudgeTask, NO_DOMAIN, NUMBERS_PER_PLACE } from "./messages.ts";

/** Finds what follows from the facts about an item's mail domain; undefined where it has none, or none are known. */
export type JudgementAt = (position: number) => DomainJudgement | undefined;

/** Domains whose facts are remembered from chunk to chunk. */
const DOMAINS_MAX = 16_384;

/**
 * The same facts come with many chunks: each are read from their board and judged once. Keys are numbered on, so each
 * has a slot of its own until there are more than slots; then the new take those of the oldest.
 */
export function createJudgements(
  domainsMax = DOMAINS_MAX,
): (task: Pick<JudgeTask, "facts" | "domainNumbers">) => JudgementAt {
  const keys = new Float64Array(domainsMax);
  const remembered: (DomainJudgement | undefined)[] = new Array(domainsMax);

  function judge(boards: readonly Board[], key: number, start: number, end: number): DomainJudgement {
    const board = boards.findLast(({ firstKey }) => firstKey <= key);
    if (board === undefined) throw new Error("facts on a board that was not handed over");
    const judgement = judgeDomain(JSON.parse(Buffer.from(board.memory).toString("utf8", start, end)));
    const slot = key % domainsMax;
    keys[slot] = key;
    remembered[slot] = judgement;
    return judgement;
  }

  return ({ facts, domainNumbers }) => {
    if (facts === null || domainNumbers === null) return () => undefined;
    const numbers = new Float64Array(facts.places);
    return (position) => {
      const domainNumber = domainNumbers[position] ?? NO_DOMAIN;
      if (domainNumber === NO_DOMAIN) return undefined;
      const at = domainNumber * NUMBERS_PER_PLACE;
      const key = numbers[at] ?? 0;
      if (key === 0) return undefined;
      const slot = key % domainsMax;
      const known = keys[slot] === key ? remembered[slot] : undefined;
      return known ?? judge(facts.boards, key, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0);
    };
  };
}
