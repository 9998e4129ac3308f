import {
  AutodetectQuery,
  EmailBatchBody,
  EmailQuery,
  IdentityBatchBody,
  IdentityQuery,
  PhoneBatchBody,
  PhoneQuery,
} from "../../result-schemas.ts";
import { described } from "../operation.ts";

/** The description of each parameter and field. */
export const DESCRIPTIONS = {
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

const { email, deep, dns, type, value, phone, country, batch } = DESCRIPTIONS;

export const EmailRequest = described(EmailQuery, { email, deep, dns }, "EmailRequest");
export const EmailBatchRequest = described(EmailBatchBody, { emails: batch, deep, dns }, "EmailBatchRequest");
export const IdentityRequest = described(IdentityQuery, { type, value }, "IdentityRequest");
export const AutodetectRequest = described(AutodetectQuery, { value }, "AutodetectRequest");
export const IdentityBatchRequest = described(IdentityBatchBody, { items: batch }, "IdentityBatchRequest");
export const PhoneRequest = described(PhoneQuery, { phone, country }, "PhoneRequest");
export const PhoneBatchRequest = described(PhoneBatchBody, { phones: batch, country }, "PhoneBatchRequest");
