import { isOutcomeCharged } from "../billing/units.ts";
import { ByteWriter } from "../platform/byte-writer.ts";
import { phoneWithoutCard } from "../verification/card-redaction.ts";
import { autodetect } from "../verification/documents/autodetect.ts";
import type { AutodetectResult, IdentityResult } from "../verification/documents/outcome.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../verification/documents/registry.ts";
import { writeOutcome } from "../verification/documents/written-outcome.ts";
import { type PhoneResult, checkFailed as phoneCheckFailed } from "../verification/phone/phone-number.ts";
import { readCountry } from "../verification/phone/region.ts";
import { type ValidNumber, writeValidNumber } from "../verification/phone/valid-number.ts";
import { verifyPhone } from "../verification/phone/validation.ts";
import { createEmailItems } from "./email-items.ts";
import type { VerifiedChunk, VerifyTask } from "./messages.ts";
import { readDocuments } from "./plain-documents.ts";
import {
  type ItemVerdict,
  type ItemVerifier,
  OBJECTS_AT_ONCE,
  verifyItems,
  type WriteResults,
  writeObjects,
} from "./verifier.ts";

/** Verifies chunks of every kind. What it remembers only saves time: outcomes depend on the task alone. */
export type ChunkVerifier = {
  readonly verify: (task: VerifyTask) => VerifiedChunk;
  /** Returns `check_failed` for every item: for a chunk that broke its threads. */
  readonly failed: (task: VerifyTask) => VerifiedChunk;
};

/** Called before each item of a task with its position. */
export type BeforeItem = (position: number) => void;

/** Creates the verifier of a thread, with what it remembers of addresses. */
export function createChunkVerifier(
  beforeItemOf: (task: VerifyTask) => BeforeItem | null = () => null,
): ChunkVerifier {
  const emailVerifier = createEmailItems();
  const writer = new ByteWriter();
  const withVerifier = <Outcome>(
    task: VerifyTask,
    work: <Result>(verifier: ItemVerifier<Result>) => Outcome,
  ): Outcome => {
    switch (task.kind) {
      case "email":
        return work(emailVerifier(task));
      case "phone":
        return work(phoneVerifier(task));
      case "identity":
        return work(documentVerifier(task));
    }
  };
  return {
    verify: (task) =>
      withVerifier(task, (verifier) => verifyItems(task, spaced(verifier, beforeItemOf(task)), writer)),
    failed: (task) =>
      withVerifier(task, (verifier) =>
        verifyItems(task, { ...verifier, verify: verifier.checkFailed }, writer),
      ),
  };
}

function spaced<Result>(verifier: ItemVerifier<Result>, beforeItem: BeforeItem | null): ItemVerifier<Result> {
  if (beforeItem === null) return verifier;
  return {
    ...verifier,
    verify(position) {
      beforeItem(position);
      return verifier.verify(position);
    },
  };
}

function phoneVerifier({ items, country }: VerifyTask): ItemVerifier<ValidNumber | PhoneResult> {
  const region = (country === null ? null : readCountry(country)) ?? undefined;
  const texts: readonly string[] = JSON.parse(items);
  const textAt = (position: number) => texts[position] ?? "";
  return {
    verify: (position) => phoneVerdict(verifyPhone(textAt(position), region)),
    checkFailed: (position) => phoneVerdict(phoneCheckFailed(textAt(position))),
    write: writePhones,
    writtenAtOnce: OBJECTS_AT_ONCE,
  };
}

function phoneVerdict(result: ValidNumber | PhoneResult): ItemVerdict<ValidNumber | PhoneResult> {
  return "frame" in result ? { result, status: "valid", chargeable: true } : outcomeVerdict(result);
}

const writePhones: WriteResults<ValidNumber | PhoneResult> = (before, results, separator, writer) => {
  let between = before;
  for (const result of results) {
    writer.ascii(between, 0, between.length);
    between = separator;
    if ("frame" in result) writeValidNumber(result, writer);
    else writer.text(JSON.stringify(phoneWithoutCard(result)));
  }
};

function documentVerifier({ items, count }: VerifyTask): ItemVerifier<IdentityResult | AutodetectResult> {
  const documentAt = readDocuments(items, count);
  return {
    verify(position) {
      const [type, value] = documentAt(position);
      return outcomeVerdict(type === null ? autodetect(value) : validateDocument(type, value));
    },
    checkFailed: (position) => outcomeVerdict(documentCheckFailed(...documentAt(position))),
    write: writeDocuments,
    writtenAtOnce: OBJECTS_AT_ONCE,
  };
}

const writeDocuments: WriteResults<IdentityResult | AutodetectResult> = (
  before,
  results,
  separator,
  writer,
) => {
  if (!results.every(isOfItsType)) {
    writeObjects(before, results, separator, writer);
    return;
  }
  let between = before;
  for (const result of results) {
    writer.ascii(between, 0, between.length);
    between = separator;
    writeOutcome(result, writer);
  }
};

function isOfItsType(result: IdentityResult | AutodetectResult): result is IdentityResult {
  return !("candidates" in result);
}

function outcomeVerdict<Result extends { readonly valid: boolean; readonly reason: string | null }>(
  result: Result,
): ItemVerdict<Result> {
  return {
    result,
    status: result.valid ? "valid" : "invalid",
    chargeable: isOutcomeCharged(result.reason),
  };
}
