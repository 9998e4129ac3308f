import {
  type FactsOnBoards,
  type JudgeTask,
  NO_DOMAIN,
  NUMBERS_PER_PLACE,
  PLACE_BYTES,
} from "../../src/batch/messages.ts";
import { createSplitBatch } from "../../src/batch/split.ts";
import { type DomainJudgement, judgeDomain } from "../../src/email/domain-judgement.ts";
import { createEmailJudge } from "../../src/email/verification.ts";

/** Results go back as objects, which the main thread then has to write down: for comparison with bytes. */

const verify = createEmailJudge();
const judgements = new Map<number, DomainJudgement>();

export const split = createSplitBatch();
export const judge = ({ items, facts, domainNumbers }: JudgeTask) => {
  const addresses: readonly string[] = JSON.parse(items);
  const results = addresses.map((address, position) => {
    const number = domainNumbers?.[position] ?? NO_DOMAIN;
    return verify(address, facts === null || number === NO_DOMAIN ? undefined : judgementOf(facts, number));
  });
  const counts: { [status: string]: number } = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  return { results, counts, chargeable: results.length };
};

function judgementOf({ boards, places }: FactsOnBoards, number: number): DomainJudgement | undefined {
  const [key = 0, start, end] = new Float64Array(places, number * PLACE_BYTES, NUMBERS_PER_PLACE);
  const known = judgements.get(key);
  const board = boards.findLast(({ firstKey }) => firstKey <= key);
  if (known !== undefined || board === undefined) return known;
  const judgement = judgeDomain(JSON.parse(Buffer.from(board.memory).toString("utf8", start, end)));
  judgements.set(key, judgement);
  return judgement;
}
