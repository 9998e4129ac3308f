import { isOutcomeCharged } from "../billing/units.ts";
import { autodetect } from "../verification/documents/autodetect.ts";
import { checkFailed as documentCheckFailed, validateDocument } from "../verification/documents/registry.ts";
import { checkFailed as phoneCheckFailed } from "../verification/phone/phone-number.ts";
import { readCountry } from "../verification/phone/region.ts";
import { validatePhone } from "../verification/phone/validation.ts";
import { phoneWithoutCard } from "./card-redaction.ts";
import { createEmailItems } from "./email-items.ts";
import type { VerifiedChunk, VerifyTask } from "./messages.ts";
import { readDocuments } from "./plain-documents.ts";
import { type ItemVerdict, type ItemVerifier, verifyItems, writeObjects } from "./verifier.ts";

/** Verifies chunks of every kind. What it remembers only saves time: outcomes depend on the task alone. */
export type ChunkVerifier = {
  readonly verify: (task: VerifyTask) => VerifiedChunk;
  /** Returns `check_failed` for every item: for a chunk that broke its threads. */
  readonly failed: (task: VerifyTask) => VerifiedChunk;
};

export function createChunkVerifier(): ChunkVerifier {
  const emailVerifier = createEmailItems();
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
    verify: (task) => withVerifier(task, (verifier) => verifyItems(task, verifier)),
    failed: (task) =>
      withVerifier(task, (verifier) => verifyItems(task, { ...verifier, verify: verifier.checkFailed })),
  };
}

function phoneVerifier({ items, country }: VerifyTask): ItemVerifier<object> {
  const region = (country === null ? null : readCountry(country)) ?? undefined;
  const texts: readonly string[] = JSON.parse(items);
  const textAt = (position: number) => texts[position] ?? "";
  return {
    verify: (position) => outcomeVerdict(phoneWithoutCard(validatePhone(textAt(position), region))),
    checkFailed: (position) => outcomeVerdict(phoneWithoutCard(phoneCheckFailed(textAt(position)))),
    write: writeObjects,
  };
}

function documentVerifier({ items, count }: VerifyTask): ItemVerifier<object> {
  const documentAt = readDocuments(items, count);
  return {
    verify(position) {
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
}): ItemVerdict<object> {
  return {
    result,
    status: result.valid ? "valid" : "invalid",
    chargeable: isOutcomeCharged(result.reason),
  };
}
