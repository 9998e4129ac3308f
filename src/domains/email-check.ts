import { mailDomainOf } from "../email/address.ts";
import type { EmailVerification } from "../email/email-verification.ts";
import { judgeDomain, verifyEmail } from "../email/verification.ts";
import type { DomainFactsSource } from "./facts.ts";

/** Looks up the domain of one address and judges it. */
export type EmailCheck = (
  text: string,
  options: { readonly deep: boolean; readonly dns: boolean },
) => Promise<EmailVerification>;
