import { DEFAULTS } from "../../defaults.ts";
import { KeyBody, PlanBody, RotateBody, SignupBody } from "../../result-schemas.ts";
import { described } from "../operation.ts";

export const SignupRequest = described(
  SignupBody,
  {
    email: "An address that can receive mail; one account for each mailbox, however it is spelled.",
    name: "Who holds the account.",
    company: "For whom.",
    country: "Where.",
    plan: `\`${DEFAULTS.plan}\` where it is not named.`,
    referral_code: "Who sent you.",
  },
  "SignupRequest",
);

export const PlanRequest = described(
  PlanBody,
  {
    plan: "The plan that is wanted.",
    spend_limit_usd: 'An amount such as "250.00", or null for none.',
  },
  "PlanRequest",
);

export const RotateRequest = described(
  RotateBody,
  {
    overlap_seconds: `How long the old key is still taken; ${DEFAULTS.overlapSeconds} where it is not named.`,
  },
  "RotateRequest",
);

export const KeyRequest = described(
  KeyBody,
  {
    name: "A name to know it by, at most 100 characters.",
    mode: "`live`.",
    scopes: "What it may do; all unless it says otherwise.",
    expires_at:
      "When it ends. A moment to come, `2027-01-31T00:00:00Z`, in UTC where it has no offset; never unless it says otherwise.",
  },
  "KeyRequest",
);
