import type { DomainJudgement } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { type EmailJudge, type WrittenVerification, writeVerification } from "../email/verification.ts";
import { emailWithoutCard } from "./card-secrecy.ts";

/** Judges an address as an `EmailJudge` does, and writes down what goes on the wire. */
export type EmailWriter = (text: string, judgement: DomainJudgement | undefined) => WrittenVerification;

export function createEmailWriter(judge: EmailJudge): EmailWriter {
  return (text, judgement) =>
    judgement === undefined
      ? writtenEmail(emailWithoutCard(judge(text, undefined)))
      : writeVerification(text, judgement);
}

export function writtenEmail(result: EmailVerification): WrittenVerification {
  return { json: JSON.stringify(result), status: result.status, sub_status: result.sub_status };
}
