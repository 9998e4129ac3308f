import { verifyEmail, verifyEmailDetailed } from "@devmehq/email-validator-js";
import { validate } from "deep-email-validator";
import MailChecker from "mailchecker";
import validator from "validator";

/** One way to check an address that others offer, with what it leaves out. */
export type EmailPeer = {
  readonly name: string;
  readonly usesDns: boolean;
  readonly isGood: (address: string) => boolean | Promise<boolean>;
};

/**
 * The peers at their quickest, without asking mail servers, which no check of ours does. They run here for
 * comparison only, and nothing of them is taken over: @devmehq/email-validator-js is under BSL 1.1, which allows
 * uses that are not production, the others under MIT.
 */
export const emailPeers: readonly EmailPeer[] = [
  {
    name: "@devmehq/email-validator-js: syntax and MX",
    usesDns: true,
    async isGood(emailAddress) {
      const result = await verifyEmail({ emailAddress, verifyMx: true, verifySmtp: false });
      return result.validFormat && result.validMx === true;
    },
  },
  {
    name: "@devmehq/email-validator-js: detailed, with lists and suggestion",
    usesDns: true,
    async isGood(emailAddress) {
      const result = await verifyEmailDetailed({
        emailAddress,
        verifyMx: true,
        verifySmtp: false,
        checkDisposable: true,
        checkFree: true,
        suggestDomain: true,
      });
      return result.format.valid && result.domain.valid === true && !result.disposable;
    },
  },
  {
    name: "deep-email-validator: without SMTP",
    usesDns: true,
    isGood: async (email) => (await validate({ email, validateSMTP: false })).valid,
  },
  {
    name: "validator + mailchecker: no DNS",
    usesDns: false,
    isGood: (address) => validator.isEmail(address) && MailChecker.isValid(address),
  },
];
