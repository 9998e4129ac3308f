import { isEmailCharged, isOutcomeCharged } from "../billing/units.ts";
import { autodetect } from "../verification/documents/autodetect.ts";
import type { DocumentType } from "../verification/documents/outcome.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../verification/documents/registry.ts";
import {
  createEmailJudge,
  checkFailed as emailCheckFailed,
  type WrittenVerification,
} from "../verification/email/verification.ts";
import { checkFailed as phoneCheckFailed } from "../verification/phone/phone-number.ts";
import { readCountry } from "../verification/phone/region.ts";
import { validatePhone } from "../verification/phone/validation.ts";
import { phoneWithoutCard } from "./card-redaction.ts";
import { readTexts } from "./items.ts";
import type { JudgeOutcome, JudgeTask } from "./messages.ts";
import { createJudgements } from "./verdict-cache.ts";
import { type ItemJudge, judgeItems, type Verdict, writeObjects } from "./verifier.ts";
import { createEmailWriterIn, writtenEmail } from "./written-email.ts";

/** Judges chunks of every kind. What it remembers only saves time: outcomes depend on the task alone. */
export type ChunkJudge = {
  readonly judge: (task: JudgeTask) => JudgeOutcome;
  /** Every item answered `check_failed`: for a chunk that broke its threads. */
  readonly failed: (task: JudgeTask) => JudgeOutcome;
};

/** A document as it stands in a chunk: its type, or null to find it out, and its value. */
type DocumentItem = readonly [type: DocumentType | null, value: string];

const NO_DOCUMENT: DocumentItem = [null, ""];

export function createChunkJudge(): ChunkJudge {
  const emailJudge = createEmailItemJudge();
  const judged = <Outcome>(
    task: JudgeTask,
    judge: <Result>(judge: ItemJudge<Result>) => Outcome,
  ): Outcome => {
    switch (task.kind) {
      case "email":
        return judge(emailJudge(task));
      case "phone":
        return judge(phoneJudge(task));
      case "identity":
        return judge(documentJudge(task));
    }
  };
  return {
    judge: (task) => judged(task, (judge) => judgeItems(task, judge)),
    failed: (task) => judged(task, (judge) => judgeItems(task, { ...judge, judge: judge.checkFailed })),
  };
}

function createEmailItemJudge(): (task: JudgeTask) => ItemJudge<string> {
  const write = createEmailWriterIn(createEmailJudge());
  const judgementsOf = createJudgements();
  return (task) => {
    const judgementAt = judgementsOf(task);
    const { holder, from, end, identity } = readTexts(task.items, task.count);
    return {
      judge: (at) => emailVerdict(write(holder(at), from(at), end(at), judgementAt(at))),
      checkFailed: (at) => emailVerdict(writtenEmail(emailCheckFailed(identity(at)))),
      write: concatenated,
    };
  };
}

/** A join would write out each text for itself first, and then all of them: that takes a quarter more time. */
function concatenated(texts: readonly string[], separator: "," | "\n"): string {
  let whole = texts[0] ?? "";
  for (let at = 1; at < texts.length; at++) whole += `${separator}${texts[at]}`;
  return whole;
}

function emailVerdict({ json, status, sub_status }: WrittenVerification): Verdict<string> {
  return { result: json, status, chargeable: isEmailCharged(sub_status) };
}

function phoneJudge({ items, country }: JudgeTask): ItemJudge<object> {
  const region = (country === null ? null : readCountry(country)) ?? undefined;
  const texts: readonly string[] = JSON.parse(items);
  const textAt = (position: number) => texts[position] ?? "";
  return {
    judge: (position) => outcomeVerdict(phoneWithoutCard(validatePhone(textAt(position), region))),
    checkFailed: (position) => outcomeVerdict(phoneWithoutCard(phoneCheckFailed(textAt(position)))),
    write: writeObjects,
  };
}

function documentJudge({ items }: JudgeTask): ItemJudge<object> {
  const documents: readonly DocumentItem[] = JSON.parse(items);
  const documentAt = (position: number) => documents[position] ?? NO_DOCUMENT;
  return {
    judge(position) {
      const [type, value] = documentAt(position);
      return outcomeVerdict(type === null ? autodetect(value) : validateDocument(type, value));
    },
    checkFailed: (position) => outcomeVerdict(documentCheckFailed(...documentAt(position))),
    write: writeObjects,
  };
}

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
