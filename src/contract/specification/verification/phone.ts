import { PhoneBatchQuery, PhoneQuery } from "../../result-schemas.ts";
import { described, jsonReply, operation } from "../operation.ts";
import { batchBodies, batchReply } from "./email.ts";
import { PhoneBatch, PhoneResult } from "./phone-replies.ts";
import { DESCRIPTIONS, PhoneBatchRequest, PhoneRequest } from "./verification-requests.ts";

const { phone, country } = DESCRIPTIONS;
const COST = "Costs 1 unit, whether the number is valid or not.";

const VALIDATION = {
  path: "/v1/phone/validate",
  tag: "Phone",
  access: "key",
  replies: { 200: jsonReply("What was found.", PhoneResult) },
} as const;

export const validatePhone = operation({
  ...VALIDATION,
  operationId: "validatePhone",
  method: "GET",
  summary: "Validate a phone number",
  description: `${COST} A leading space is read as a plus.`,
  query: described(PhoneQuery, { phone, country }),
  refusals: ["invalid_request", "quota_exceeded"],
  samples: {
    mobile: { summary: "A mobile number", query: { phone: "+55 11 98765-4321" } },
    national: { summary: "As dialled within a country", query: { phone: "(212) 736-5000", country: "US" } },
    extension: { summary: "With an extension", query: { phone: "+44 20 7946 0958 ext. 12" } },
    not_a_number: { summary: "No number at all", query: { phone: "hello" } },
    bad_country: {
      summary: "No such country",
      status: 400,
      query: { phone: "11 98765-4321", country: "ZZ" },
    },
    phone_missing: { summary: "No number", status: 400, query: { country: "BR" } },
  },
});

export const validatePhonePost = operation({
  ...VALIDATION,
  operationId: "validatePhonePost",
  method: "POST",
  summary: "Validate a phone number that stays out of logs",
  description: COST,
  idempotent: true,
  body: { "application/json": PhoneRequest },
  refusals: ["quota_exceeded"],
  samples: {
    vanity: { summary: "Letters of a keypad", body: { phone: "1-800-FLOWERS", country: "US" } },
    too_short: { summary: "A number that is too short", body: { phone: "+49 30 1" } },
    phone_missing: { summary: "No number", status: 400, body: {} },
  },
});

export const validatePhones = operation({
  operationId: "validatePhones",
  method: "POST",
  path: "/v1/phone/batch",
  tag: "Phone",
  summary: "Validate a batch of phone numbers",
  description:
    'Each distinct number costs 1 unit. As JSON, or one number (or JSON string, or `{"phone"}`) per line; `country` is then in the query.',
  access: "key",
  idempotent: true,
  query: described(PhoneBatchQuery, { country }),
  body: batchBodies(PhoneBatchRequest),
  replies: { 200: batchReply(PhoneBatch) },
  refusals: ["batch_too_large", "quota_exceeded"],
  samples: {
    two: {
      summary: "Two numbers of one country",
      body: { phones: ["11 98765-4321", "11 3"], country: "BR" },
    },
    text: {
      summary: "Lines of text in, NDJSON out",
      query: { country: "BR" },
      bodyType: "text/plain",
      body: "11 98765-4321\n+44 20 7946 0958\n",
      accept: "application/x-ndjson",
    },
    bad_country: { summary: "No such country", status: 400, body: { phones: [], country: "ZZ" } },
  },
});

export const PHONE_OPERATIONS = [validatePhone, validatePhonePost, validatePhones];
