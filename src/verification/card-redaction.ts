import { withoutCardNumber } from "./documents/card-hiding.ts";
import type { EmailVerification } from "./email/email-verification.ts";
import type { PhoneResult } from "./phone/phone-number.ts";

/**
 * Results echo what was given. A card number that was given for something else by mistake is the exception: it is
 * shown masked, as it would be by the check that it was meant for.
 */

/** The result, without the number where what was given is no address but a card number. */
export function emailWithoutCard(result: EmailVerification): EmailVerification {
  if (result.normalized !== "") return result;
  const email = withoutCardNumber(result.email);
  return email === result.email ? result : { ...result, email };
}

/** The result, without the number where what was given is no phone number but a card number. */
export function phoneWithoutCard(result: PhoneResult): PhoneResult {
  if (result.valid) return result;
  const phone = withoutCardNumber(result.phone);
  if (phone === result.phone) return result;
  const forms = { e164: null, international: null, national: null, rfc3966: null };
  return { ...result, ...forms, national_number: null, extension: null, phone };
}
