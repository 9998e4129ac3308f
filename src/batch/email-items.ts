import { isEmailCharged } from "../billing/units.ts";
import {
  checkFailed,
  createAddressVerifier,
  type WrittenVerification,
} from "../verification/email/verification.ts";
import { readTexts } from "./items.ts";
import type { VerifyTask } from "./messages.ts";
import { createVerdictCache } from "./verdict-cache.ts";
import type { ItemVerdict, ItemVerifier, WriteResults } from "./verifier.ts";
import { createEmailWriterIn, writtenEmail } from "./written-email.ts";

/** Returns what verifies the addresses of a chunk. */
export function createEmailItems(): (task: VerifyTask) => ItemVerifier<string> {
  const write = createEmailWriterIn(createAddressVerifier());
  const domainVerdictsOf = createVerdictCache();
  return (task) => {
    const domainVerdictAt = domainVerdictsOf(task);
    const { source, start, end, identity } = readTexts(task.items, task.count);
    return {
      verify: (at) => emailVerdict(write(source(at), start(at), end(at), domainVerdictAt(at))),
      checkFailed: (at) => emailVerdict(writtenEmail(checkFailed(identity(at)))),
      write: writeTexts,
      writtenAtOnce: task.count,
    };
  };
}

/** A join would write out each text for itself first, and then all of them: that takes a quarter more time. */
const writeTexts: WriteResults<string> = (before, texts, separator, writer) => {
  let whole = before + (texts[0] ?? "");
  for (let at = 1; at < texts.length; at++) whole = `${whole}${separator}${texts[at]}`;
  writer.text(whole);
};

function emailVerdict({ json, status, sub_status }: WrittenVerification): ItemVerdict<string> {
  return { result: json, status, chargeable: isEmailCharged(sub_status) };
}
