import { autodetect } from "../documents/autodetect.ts";
import type { DocumentType } from "../documents/outcome.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../documents/registry.ts";
import { type DomainJudgement, judgeDomain } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { createEmailJudge, checkFailed as emailCheckFailed } from "../email/verification.ts";
import { isEmailCharged, isOutcomeCharged } from "../metering/units.ts";
import { checkFailed as phoneCheckFailed } from "../phone/phone-number.ts";
import { readCountry } from "../phone/region.ts";
import { validatePhone } from "../phone/validation.ts";
import { emailWithoutCard, phoneWithoutCard } from "./card-secrecy.ts";
import { type ItemJudge, judgeItems, type Verdict } from "./judge.ts";
import {
  type Board,
  type FactsOnBoards,
  type JudgeOutcome,
  type JudgeTask,
  NO_DOMAIN,
  NUMBERS_PER_PLACE,
} from "./messages.ts";

/** Judges chunks of every kind. What it remembers only saves time: outcomes depend on the task alone. */
export type ChunkJudge = {
  readonly judge: (task: JudgeTask) => JudgeOutcome;
  /** Every item answered `check_failed`: for a chunk that broke its threads. */
  readonly failed: (task: JudgeTask) => JudgeOutcome;
};

/** A document as it stands in a chunk: its type, or null to find it out, and its value. */
type DocumentItem = readonly [type: DocumentType | null, value: string];

/** Domains whose facts and readings are remembered from chunk to chunk; past this all are forgotten. */
const DOMAINS_MAX = 20_000;

export function createChunkJudge(): ChunkJudge {
  const emailJudge = createEmailItemJudge();
  return {
    judge(task) {
      switch (task.kind) {
        case "email":
          return judgeItems(task, itemsOf<string>(task), emailJudge(task));
        case "phone":
          return judgeItems(task, itemsOf<string>(task), phoneJudge(task));
        case "identity":
          return judgeItems(task, itemsOf<DocumentItem>(task), documentJudge);
      }
    },
    failed(task) {
      const failing = <Item>({ checkFailed }: ItemJudge<Item>) => ({ judge: checkFailed, checkFailed });
      switch (task.kind) {
        case "email":
          return judgeItems(task, itemsOf<string>(task), failing(emailJudge(task)));
        case "phone":
          return judgeItems(task, itemsOf<string>(task), failing(phoneJudge(task)));
        case "identity":
          return judgeItems(task, itemsOf<DocumentItem>(task), failing(documentJudge));
      }
    },
  };
}

function itemsOf<Item>({ items }: JudgeTask): readonly Item[] {
  return JSON.parse(items);
}

function createEmailItemJudge(): (task: JudgeTask) => ItemJudge<string> {
  const verify = createEmailJudge();
  const judgementsOf = createJudgements();

  return ({ facts, domainNumbers }) => {
    const judgementOf = facts === null ? () => undefined : judgementsOf(facts);
    return {
      judge(text, position) {
        const number = domainNumbers?.[position] ?? NO_DOMAIN;
        const judgement = number === NO_DOMAIN ? undefined : judgementOf(number);
        return emailVerdict(emailWithoutCard(verify(text, judgement)));
      },
      checkFailed: (text) => emailVerdict(emailCheckFailed(text)),
    };
  };
}

function emailVerdict(result: EmailVerification): Verdict {
  return { result, status: result.status, chargeable: isEmailCharged(result.sub_status) };
}

/** The same facts come with many chunks: each are read and judged once. */
function createJudgements(): (facts: FactsOnBoards) => (domainNumber: number) => DomainJudgement | undefined {
  const remembered = new Map<number, DomainJudgement>();

  function judge(boards: readonly Board[], key: number, start: number, end: number): DomainJudgement {
    const board = boards.findLast(({ firstKey }) => firstKey <= key);
    if (board === undefined) throw new Error("facts on a board that was not handed over");
    if (remembered.size >= DOMAINS_MAX) remembered.clear();
    const judgement = judgeDomain(JSON.parse(Buffer.from(board.memory).toString("utf8", start, end)));
    remembered.set(key, judgement);
    return judgement;
  }

  return ({ boards, places }) => {
    const numbers = new Float64Array(places);
    return (domainNumber) => {
      const at = domainNumber * NUMBERS_PER_PLACE;
      const key = numbers[at] ?? 0;
      if (key === 0) return undefined;
      return remembered.get(key) ?? judge(boards, key, numbers[at + 1] ?? 0, numbers[at + 2] ?? 0);
    };
  };
}

function phoneJudge({ country }: JudgeTask): ItemJudge<string> {
  const region = (country === null ? null : readCountry(country)) ?? undefined;
  return {
    judge: (text) => outcomeVerdict(phoneWithoutCard(validatePhone(text, region))),
    checkFailed: (text) => outcomeVerdict(phoneCheckFailed(text)),
  };
}

const documentJudge: ItemJudge<DocumentItem> = {
  judge: ([type, value]) => outcomeVerdict(type === null ? autodetect(value) : validateDocument(type, value)),
  checkFailed: ([type, value]) => outcomeVerdict(documentCheckFailed(type, value)),
};

function outcomeVerdict(result: { readonly valid: boolean; readonly reason: string | null }): Verdict {
  return {
    result,
    status: result.valid ? "valid" : "invalid",
    chargeable: isOutcomeCharged(result.reason),
  };
}
