import type { FactsOnBoard, JudgeTask } from "../../src/batch/messages.ts";
import { splitBatch } from "../../src/batch/split.ts";
import { type DomainJudgement, judgeDomain } from "../../src/email/domain-judgement.ts";
import { createEmailJudge } from "../../src/email/verification.ts";

/** Results go back as objects, which the main thread then has to write down: for comparison with bytes. */

export const split = splitBatch;
export const judge = ({ items, facts }: JudgeTask) => {
  const judgements = facts === null ? new Map<string, DomainJudgement>() : judgementsOn(facts);
  const verify = createEmailJudge((domain) => judgements.get(domain));
  const addresses: readonly string[] = JSON.parse(items);
  const results = addresses.map((address) => verify(address));
  const counts: { [status: string]: number } = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  return { results, counts, chargeable: results.length };
};

function judgementsOn({ memory, places }: FactsOnBoard): Map<string, DomainJudgement> {
  const judgements = new Map<string, DomainJudgement>();
  const board = Buffer.from(memory);
  for (let at = 0; at < places.length; at += 2) {
    const judgement = judgeDomain(JSON.parse(board.toString("utf8", places[at], places[at + 1])));
    judgements.set(judgement.facts.domain, judgement);
  }
  return judgements;
}
