import { Elysia } from "elysia";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Rate } from "../../billing/rate-limiter.ts";
import { ApiError } from "../../contract/errors.ts";
import { SignupBody } from "../../contract/result-schemas.ts";
import { createReader } from "../../contract/schema.ts";
import { signUp } from "../../contract/specification/account.ts";
import type { EmailCheck } from "../../domains/email-check.ts";
import type { EmailVerification } from "../../verification/email/email-verification.ts";
import type { Guard } from "../auth.ts";
import type { Boundary } from "../boundary.ts";
import { json } from "../reply.ts";
import { BODY_UNREAD, parseJson, readBytes, requireJson } from "../request-body.ts";

export type SignupRouteParts = {
  readonly boundary: Boundary;
  readonly guard: Guard;
  readonly accounts: Accounts;
  readonly checkEmail: EmailCheck<EmailVerification>;
  readonly bodyBytesMax: number;
  readonly signupsPerMinute: number;
};

const signupBody = createReader(SignupBody);

/** Opening an account: the one call that shows a key. */
export function signupRoutes(parts: SignupRouteParts) {
  const rate: Rate = { requestsPerSecond: parts.signupsPerMinute / 60, burst: parts.signupsPerMinute };
  return new Elysia({ name: "signup" }).post(
    "/v1/signup",
    parts.boundary.route<{ account_id: string; api_key: string }>("/v1/signup", async (call) => {
      parts.guard.admitPublic(call, "signup", rate);
      requireJson(call.request);
      const fields = signupBody.body(parseJson(await readBytes(call.request, parts.bodyBytesMax)));
      // The look-up may take longer than connections may be silent.
      call.allowSilence();
      const { email, normalized } = await usableEmail(parts.checkEmail, fields.email);
      const { accountId, apiKey } = parts.accounts.signup({
        email,
        normalized,
        name: fields.name ?? null,
        company: fields.company ?? null,
        country: fields.country ?? null,
        plan: fields.plan ?? "free",
        referralCode: fields.referral_code ?? null,
      });
      return json({ account_id: accountId, api_key: apiKey }, 201);
    }),
    { ...BODY_UNREAD, detail: signUp },
  );
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
