import type { Accounts } from "../../accounts/accounts.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import { ApiError } from "../../contract/errors.ts";
import { bodyReader } from "../../contract/schema.ts";
import { signUp } from "../../contract/specification/accounts/account.ts";
import type { EmailCheck } from "../../domains/email-check.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import type { EmailVerification } from "../../verification/email/email-verification.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import { parseJson, requireJson } from "../bodies/request-body.ts";
import type { Handler } from "../call.ts";
import { clientAddressKey } from "../client-address-key.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type SignupRouteDependencies = {
  readonly routing: Routing;
  readonly accounts: Accounts;
  readonly checkEmail: EmailCheck<EmailVerification>;
  readonly bodies: BodyReader;
  readonly turns: FairTurns;
  readonly signupsPerMinute: number;
};

/** Opening an account: the one call that shows a key. */
export function signupRoutes(dependencies: SignupRouteDependencies): readonly Route[] {
  const { routing, accounts, checkEmail, bodies, turns, signupsPerMinute } = dependencies;
  const readBody = bodyReader(signUp);
  const rate = { requestsPerSecond: signupsPerMinute / 60, burst: signupsPerMinute * 2 };
  const answer: Handler = async (call) => {
    const tenant = clientAddressKey(call.clientAddress());
    using body = await bodies.read(call.request, { tenant });
    requireJson(call.request, body.bytes);
    const fields = readBody(parseJson(body.bytes));
    // The look-up may take longer than connections may be silent.
    call.suspendIdleTimeout();
    const { email, normalized } = await usableEmail(checkEmail, fields.email);
    await turns.turnOf(tenant);
    const { accountId, apiKey } = await accounts.signup({
      email,
      normalized,
      name: fields.name ?? null,
      company: fields.company ?? null,
      country: fields.country ?? null,
      plan: fields.plan ?? DEFAULTS.plan,
      referralCode: fields.referral_code ?? null,
    });
    return json({ account_id: accountId, api_key: apiKey }, 201);
  };
  return [routing.public(signUp, answer, { purpose: "signup", rate })];
}

/** Throws `unusable_email` where mail certainly never arrives or the mailbox is a throwaway. */
async function usableEmail(checkEmail: EmailCheck<EmailVerification>, text: string) {
  const email = text.trim();
  const { status, normalized, is_disposable } = await checkEmail(email, { deep: false, dns: true });
  if (status === "undeliverable") {
    throw new ApiError("unusable_email", "email must be an address whose domain takes mail.");
  }
  if (is_disposable) throw new ApiError("unusable_email", "email must not be a disposable address.");
  return { email, normalized };
}
