import { type DomainJudgement, judgeDomain } from "../email/domain-judgement.ts";
import { type Board, type JudgeTask, NO_DOMAIN, NUMBERS_PER_PLACE } from "./messages.ts";

/** Finds what follows from the facts about an item's mail domain; undefined where it has none, or none are known. */
export type JudgementAt = (position: number) => DomainJudgement | undefined;

/** Domains whose facts are remembered from chunk to chunk; past this all are forgotten. */
const DOMAINS_MAX = 20_000;

/** The same facts come with many chunks: each are read from their board and judged once. */
export function createJudgements(): (task: Pick<JudgeTask, "facts" | "domainNumbers">) => JudgementAt {
  const remembered = new Map<number, DomainJudgement>();

  function judge(boards: readonly Board[], key: number, start: number, end: number): DomainJudgement {
    const board = boards.findLast(({ firstKey }) => firstKey <= key);
    if (board === undefined) throw new Error("facts on a board that was not handed over");
    if (remembered.size >= DOMAINS_MAX) remembered.clear();
    const judgement = judgeDomain(JSON.parse(Buffer.from(board.memory).toString("utf8", start, end)));
    remembered.set(key, judgement);
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
      return remembered.get(key) ?? judge(facts.boards, key, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0);
    };
  };
}
