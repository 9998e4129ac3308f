import { emailWithoutCard } from "../verification/card-redaction.ts";
import type { DomainVerdict } from "../verification/email/domain-verdict.ts";
import type { EmailVerification } from "../verification/email/email-verification.ts";
import {
  type AddressVerifier,
  type WrittenVerification,
  writeVerificationIn,
} from "../verification/email/verification.ts";

/**
 * Verifies addresses as an `AddressVerifier` does and writes down what goes on the wire; those that are refused are left to
 * it. Card numbers are among these alone: no address that is accepted is one.
 */
export function createEmailWriter(
  verify: AddressVerifier,
): (text: string, domainVerdict: DomainVerdict | undefined) => WrittenVerification {
  const writeIn = createEmailWriterIn(verify);
  return (text, domainVerdict) => writeIn(text, 0, text.length, domainVerdict);
}

/** The same for addresses within a text. */
export function createEmailWriterIn(
  verify: AddressVerifier,
): (
  source: string,
  start: number,
  end: number,
  domainVerdict: DomainVerdict | undefined,
) => WrittenVerification {
  return (source, start, end, domainVerdict) =>
    domainVerdict === undefined
      ? writtenEmail(verify(source.slice(start, end), undefined))
      : writeVerificationIn(source, start, end, domainVerdict);
}

/** Writes down the result for an address that was refused, or whose check broke: a card number in it is masked. */
export function writtenEmail(verification: EmailVerification): WrittenVerification {
  const result = emailWithoutCard(verification);
  return { json: JSON.stringify(result), status: result.status, sub_status: result.sub_status };
}
