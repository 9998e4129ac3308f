import type { DomainJudgement } from "../email/domain-judgement.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { type EmailJudge, type WrittenVerification, writeVerification } from "../email/verification.ts";
import { emailWithoutCard } from "./card-secrecy.ts";

/**
 * Judges addresses as an `EmailJudge` does and writes down what goes on the wire; those that are refused are left to
 * the judge. Among these alone are card numbers: an address that is accepted is none.
 */
export function createEmailWriter(
  judge: EmailJudge,
): (text: string, judgement: DomainJudgement | undefined) => WrittenVerification {
  return (text, judgement) =>
    judgement === undefined
      ? writtenEmail(emailWithoutCard(judge(text, undefined)))
      : writeVerification(text, judgement);
}

export function writtenEmail(result: EmailVerification): WrittenVerification {
  return { json: JSON.stringify(result), status: result.status, sub_status: result.sub_status };
}
