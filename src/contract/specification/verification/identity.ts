import { AutodetectQuery, IdentityQuery } from "../../result-schemas.ts";
import { described, jsonReply, operation } from "../operation.ts";
import { batchBodies, batchReply } from "./email.ts";
import { DetectedResult, IdentityBatch, IdentityResult } from "./identity-replies.ts";
import {
  AutodetectRequest,
  DESCRIPTIONS,
  IdentityBatchRequest,
  IdentityRequest,
} from "./verification-requests.ts";

const { type, value } = DESCRIPTIONS;
const COST = "Costs 1 unit, whether the number is valid or not.";
const CARDS =
  "Card numbers belong in the body of a POST: the reply and our log have them masked, but a URL is written down by every proxy on the way.";

const VALIDATION = {
  path: "/v1/identity/validate",
  tag: "Identity",
  access: "key",
  replies: { 200: jsonReply("What was found.", IdentityResult) },
} as const;
const DETECTION = {
  path: "/v1/identity/autodetect",
  tag: "Identity",
  access: "key",
  replies: { 200: jsonReply("The result of the type that fits best.", DetectedResult) },
} as const;

export const validateDocument = operation({
  ...VALIDATION,
  operationId: "validateDocument",
  method: "GET",
  summary: "Validate a document number",
  description: `${COST} ${CARDS}`,
  query: described(IdentityQuery, { type, value }),
  refusals: ["invalid_request", "quota_exceeded"],
  samples: {
    cpf: { summary: "CPF", query: { type: "cpf", value: "529.982.247-25" } },
    cnpj: { summary: "CNPJ with letters", query: { type: "cnpj", value: "12.ABC.345/01DE-35" } },
    iban: { summary: "IBAN", query: { type: "iban", value: "DE89 3704 0044 0532 0130 00" } },
    vat: { summary: "VAT number", query: { type: "vat", value: "ATU13585627" } },
    isbn: { summary: "ISBN", query: { type: "isbn", value: "978-3-16-148410-0" } },
    ean13: { summary: "EAN-13", query: { type: "ean13", value: "4006381333931" } },
    ein: { summary: "EIN", query: { type: "ein", value: "12-3456789" } },
    checksum: { summary: "A digit that is wrong", query: { type: "cpf", value: "529.982.247-24" } },
    bad_type: { summary: "No such type", status: 400, query: { type: "passport", value: "X" } },
    value_missing: { summary: "No value", status: 400, query: { type: "cpf" } },
  },
});

export const validateDocumentPost = operation({
  ...VALIDATION,
  operationId: "validateDocumentPost",
  method: "POST",
  summary: "Validate a document number that stays out of logs",
  description: COST,
  idempotent: true,
  body: { "application/json": IdentityRequest },
  refusals: ["quota_exceeded"],
  samples: {
    card: { summary: "A payment card", body: { type: "card", value: "4242 4242 4242 4242" } },
    component: { summary: "A country outside the registry", body: { type: "iban", value: "XX00 1234" } },
    value_missing: { summary: "No value", status: 400, body: { type: "card" } },
  },
});

export const detectDocument = operation({
  ...DETECTION,
  operationId: "detectDocument",
  method: "GET",
  summary: "Find out what a number is",
  description: `${COST} ${CARDS}`,
  query: described(AutodetectQuery, { value }),
  refusals: ["invalid_request", "quota_exceeded"],
  samples: {
    isbn: { summary: "A number that two types claim", query: { value: "9783161484100" } },
    nothing: { summary: "A number of no type", query: { value: "hello" } },
    value_missing: { summary: "No value", status: 400 },
  },
});

export const detectDocumentPost = operation({
  ...DETECTION,
  operationId: "detectDocumentPost",
  method: "POST",
  summary: "Find out what a number is that stays out of logs",
  description: COST,
  idempotent: true,
  body: { "application/json": AutodetectRequest },
  refusals: ["quota_exceeded"],
  samples: {
    card: { summary: "A payment card", body: { value: "5555555555554444" } },
    not_text: { summary: "A number for a text", status: 400, body: { value: 5555 } },
  },
});

export const validateDocuments = operation({
  operationId: "validateDocuments",
  method: "POST",
  path: "/v1/identity/batch",
  tag: "Identity",
  summary: "Validate a batch of document numbers",
  description:
    "Each distinct item costs 1 unit. An item without a type is detected. As JSON, or one value (or JSON string, or object) per line.",
  access: "key",
  idempotent: true,
  body: batchBodies(IdentityBatchRequest),
  replies: { 200: batchReply(IdentityBatch) },
  refusals: ["batch_too_large", "quota_exceeded"],
  samples: {
    two: {
      summary: "One with a type, one without",
      body: {
        items: [{ type: "cpf", value: "529.982.247-25" }, { value: "DE89370400440532013000" }],
      },
    },
    lines: {
      summary: "NDJSON in and out",
      bodyType: "application/x-ndjson",
      body: '{"type":"card","value":"4242424242424242"}\n"978-3-16-148410-0"\n',
      accept: "application/x-ndjson",
    },
    bad_type: {
      summary: "No such type",
      status: 400,
      body: { items: [{ type: "passport", value: "X" }] },
    },
  },
});

export const IDENTITY_OPERATIONS = [
  validateDocument,
  validateDocumentPost,
  detectDocument,
  detectDocumentPost,
  validateDocuments,
];
