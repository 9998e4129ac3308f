import type { TSchema } from "@sinclair/typebox";
import { DEFAULTS } from "../defaults.ts";
import {
  AutodetectQuery,
  EmailBatchBody,
  EmailQuery,
  IdentityBatchBody,
  IdentityQuery,
  KeyBody,
  PhoneBatchBody,
  PhoneQuery,
  PlanBody,
  RotateBody,
  SignupBody,
} from "../result-schemas.ts";
import { JobRequest } from "./job-fields.ts";
import { described } from "./operation.ts";

/** The description of each parameter and field. */
export const SAYS = {
  email: "The address as it was typed.",
  deep: "Adds SPF and DMARC look-ups; costs 2 units instead of 1.",
  dns: "`false` asks no DNS: the verdict is then on the address alone.",
  type: "What the number is to be.",
  value: "The number as it was typed, with or without its customary separators.",
  phone: "The number in any format: `tel:` addresses, extensions and vanity letters are read.",
  country:
    "ISO 3166 alpha-2 (`BR`) or a calling code (`55`, `+55`), for a number without international prefix.",
  batch: "At most the plan's `max_batch_size`.",
} as const;

const { email, deep, dns, type, value, phone, country, batch } = SAYS;

export const EmailRequest = described(EmailQuery, { email, deep, dns }, "EmailRequest");
export const EmailBatchRequest = described(EmailBatchBody, { emails: batch, deep, dns }, "EmailBatchRequest");
export const IdentityRequest = described(IdentityQuery, { type, value }, "IdentityRequest");
export const AutodetectRequest = described(AutodetectQuery, { value }, "AutodetectRequest");
export const IdentityBatchRequest = described(IdentityBatchBody, { items: batch }, "IdentityBatchRequest");
export const PhoneRequest = described(PhoneQuery, { phone, country }, "PhoneRequest");
export const PhoneBatchRequest = described(PhoneBatchBody, { phones: batch, country }, "PhoneBatchRequest");

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
    expires_at: "When it ends. A moment to come, `2027-01-31T00:00:00Z`; never unless it says otherwise.",
  },
  "KeyRequest",
);

/** Every body that callers send. */
export const REQUESTS: readonly TSchema[] = [
  JobRequest,
  EmailRequest,
  EmailBatchRequest,
  IdentityRequest,
  AutodetectRequest,
  IdentityBatchRequest,
  PhoneRequest,
  PhoneBatchRequest,
  SignupRequest,
  PlanRequest,
  RotateRequest,
  KeyRequest,
];
