import { autodetect } from "../documents/autodetect.ts";
import type { DocumentType } from "../documents/outcome.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../documents/registry.ts";
import {
  createEmailJudge,
  checkFailed as emailCheckFailed,
  type WrittenVerification,
} from "../email/verification.ts";
import { isEmailCharged, isOutcomeCharged } from "../metering/units.ts";
import { checkFailed as phoneCheckFailed } from "../phone/phone-number.ts";
import { readCountry } from "../phone/region.ts";
import { validatePhone } from "../phone/validation.ts";
import { phoneWithoutCard } from "./card-secrecy.ts";
import { type ItemJudge, judgeItems, type Verdict, writeObjects } from "./judge.ts";
import { createJudgements } from "./judgements.ts";
import type { JudgeOutcome, JudgeTask } from "./messages.ts";
import { createEmailWriter, writtenEmail } from "./written-email.ts";

/** Judges chunks of every kind. What it remembers only saves time: outcomes depend on the task alone. */
export type ChunkJudge = {
  readonly judge: (task: JudgeTask) => JudgeOutcome;
  /** Every item answered `check_failed`: for a chunk that broke its threads. */
  readonly failed: (task: JudgeTask) => JudgeOutcome;
};

/** A document as it stands in a chunk: its type, or null to find it out, and its value. */
type DocumentItem = readonly [type: DocumentType | null, value: string];

export function createChunkJudge(): ChunkJudge {
  const emailJudge = createEmailItemJudge();
  return {
    judge(task) {
      switch (task.kind) {
        case "email":
          return judgeItems(task, textsOf(task), emailJudge(task));
        case "phone":
          return judgeItems(task, textsOf(task), phoneJudge(task));
        case "identity":
          return judgeItems(task, documentsOf(task), documentJudge);
      }
    },
    failed(task) {
      const failing = <Item, Result>(judge: ItemJudge<Item, Result>) => ({
        ...judge,
        judge: judge.checkFailed,
      });
      switch (task.kind) {
        case "email":
          return judgeItems(task, textsOf(task), failing(emailJudge(task)));
        case "phone":
          return judgeItems(task, textsOf(task), failing(phoneJudge(task)));
        case "identity":
          return judgeItems(task, documentsOf(task), failing(documentJudge));
      }
    },
  };
}

/** What was written without an escape has `","` nowhere but between two texts, and is cut there in half the time. */
function textsOf({ items }: JudgeTask): readonly string[] {
  const isCut = items.startsWith('["') && !items.includes("\\");
  return isCut ? items.slice(2, -2).split('","') : JSON.parse(items);
}

function documentsOf({ items }: JudgeTask): readonly DocumentItem[] {
  return JSON.parse(items);
}

function createEmailItemJudge(): (task: JudgeTask) => ItemJudge<string, string> {
  const write = createEmailWriter(createEmailJudge());
  const judgementsOf = createJudgements();
  return (task) => {
    const judgementAt = judgementsOf(task);
    return {
      judge: (text, position) => emailVerdict(write(text, judgementAt(position))),
      checkFailed: (text) => emailVerdict(writtenEmail(emailCheckFailed(text))),
      write: (results, separator) => results.join(separator),
    };
  };
}

function emailVerdict({ json, status, sub_status }: WrittenVerification): Verdict<string> {
  return { result: json, status, chargeable: isEmailCharged(sub_status) };
}

function phoneJudge({ country }: JudgeTask): ItemJudge<string, object> {
  const region = (country === null ? null : readCountry(country)) ?? undefined;
  return {
    judge: (text) => outcomeVerdict(phoneWithoutCard(validatePhone(text, region))),
    checkFailed: (text) => outcomeVerdict(phoneCheckFailed(text)),
    write: writeObjects,
  };
}

const documentJudge: ItemJudge<DocumentItem, object> = {
  judge: ([type, value]) => outcomeVerdict(type === null ? autodetect(value) : validateDocument(type, value)),
  checkFailed: ([type, value]) => outcomeVerdict(documentCheckFailed(type, value)),
  write: writeObjects,
};

function outcomeVerdict(result: {
  readonly valid: boolean;
  readonly reason: string | null;
}): Verdict<object> {
  return {
    result,
    status: result.valid ? "valid" : "invalid",
    chargeable: isOutcomeCharged(result.reason),
  };
}
