import { autodetect } from "../documents/autodetect.ts";
import type { DocumentType } from "../documents/outcome.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../documents/registry.ts";
import { createAddressParser } from "../email/address.ts";
import { type DomainJudgement, judgeDomain } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { createEmailJudge, checkFailed as emailCheckFailed } from "../email/verification.ts";
import { isEmailCharged, isOutcomeCharged } from "../metering/units.ts";
import { checkFailed as phoneCheckFailed } from "../phone/phone-number.ts";
import { readCountry } from "../phone/region.ts";
import { validatePhone } from "../phone/validation.ts";
import { emailWithoutCard, phoneWithoutCard } from "./card-secrecy.ts";
import { type ItemJudge, judgeItems, type Verdict } from "./judge.ts";
import type { FactsOnBoard, JudgeOutcome, JudgeTask } from "./messages.ts";

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
/** More bytes than a board has. */
const PLACES_PER_BOARD = 2 ** 32;

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
          return judgeItems(task, itemsOf<string>(task), failing(emailJudge({ ...task, facts: null })));
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

/** The same facts come with many chunks: each place of a board is read and judged once. */
function createEmailItemJudge(): (task: JudgeTask) => ItemJudge<string> {
  const parser = createAddressParser(DOMAINS_MAX);
  const remembered = new Map<number, DomainJudgement>();

  function judgementAt(number: number, memory: Buffer, start: number, end: number): DomainJudgement {
    const key = number * PLACES_PER_BOARD + start;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    if (remembered.size >= DOMAINS_MAX) remembered.clear();
    const judgement = judgeDomain(JSON.parse(memory.toString("utf8", start, end)));
    remembered.set(key, judgement);
    return judgement;
  }

  function judgementsOn({ number, memory, places }: FactsOnBoard): Map<string, DomainJudgement> {
    const judgements = new Map<string, DomainJudgement>();
    const board = Buffer.from(memory);
    for (let at = 0; at < places.length; at += 2) {
      const judgement = judgementAt(number, board, places[at] ?? 0, places[at + 1] ?? 0);
      judgements.set(judgement.facts.domain, judgement);
    }
    return judgements;
  }

  return ({ facts }) => {
    const judgements = facts === null ? new Map<string, DomainJudgement>() : judgementsOn(facts);
    const verify = createEmailJudge((domain) => judgements.get(domain), parser);
    return {
      judge: (text) => emailVerdict(emailWithoutCard(verify(text))),
      checkFailed: (text) => emailVerdict(emailCheckFailed(text)),
    };
  };
}

function emailVerdict(result: EmailVerification): Verdict {
  return {
    json: JSON.stringify(result),
    status: result.status,
    chargeable: isEmailCharged(result.sub_status),
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
    json: JSON.stringify(result),
    status: result.valid ? "valid" : "invalid",
    chargeable: isOutcomeCharged(result.reason),
  };
}
