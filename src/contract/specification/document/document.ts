import type { TSchema } from "@sinclair/typebox";
import { ChangesView, DirectoryView } from "../../directory-schemas.ts";
import {
  Account,
  CreatedKey,
  InvoicePage,
  Key,
  KeyList,
  Plans,
  RotatedKey,
  SignedUp,
  Usage,
} from "../accounts/account-replies.ts";
import { KeyRequest, PlanRequest, RotateRequest, SignupRequest } from "../accounts/account-requests.ts";
import { Check, History } from "../directory/check.ts";
import { HEADERS } from "../headers.ts";
import { JobRequest } from "../jobs/job-fields.ts";
import { Job, JobPage, JobResults } from "../jobs/job-replies.ts";
import { type JsonObject, namedSchemas, writtenRequest } from "../openapi-schema.ts";
import type { Operation } from "../operation.ts";
import { Alive, ErrorBody, Health, Ready } from "../service/service-replies.ts";
import { SigningKeys } from "../service/signing.ts";
import { EmailBatch } from "../verification/email-replies.ts";
import { IdentityBatch } from "../verification/identity-replies.ts";
import { PhoneBatch } from "../verification/phone-replies.ts";
import {
  AutodetectRequest,
  EmailBatchRequest,
  EmailRequest,
  IdentityBatchRequest,
  IdentityRequest,
  PhoneBatchRequest,
  PhoneRequest,
} from "../verification/verification-requests.ts";
import { WEBHOOK_REPLIES } from "../webhooks/webhook-replies.ts";
import { WEBHOOK_REQUESTS } from "../webhooks/webhook-requests.ts";
import { refusalExamples } from "./refusals.ts";
import { writtenOperation } from "./written-operation.ts";

const REPLIES: readonly TSchema[] = [
  Account,
  Alive,
  Ready,
  ChangesView,
  Check,
  DirectoryView,
  EmailBatch,
  ErrorBody,
  Health,
  History,
  IdentityBatch,
  InvoicePage,
  Job,
  JobPage,
  JobResults,
  PhoneBatch,
  Plans,
  RotatedKey,
  Key,
  KeyList,
  CreatedKey,
  SignedUp,
  SigningKeys,
  Usage,
  ...WEBHOOK_REPLIES,
];

/** Every body that callers send. */
const REQUESTS: readonly TSchema[] = [
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
  ...WEBHOOK_REQUESTS,
];

const DESCRIPTION = `
Says of an email address, an identity document or a phone number whether it is real, and why; and serves a directory of paid services.

**Begin** with \`POST /v1/signup\`: it answers a key. Send it as \`Authorization: Bearer <key>\` (here: the button *Authorize*), never in a URL.

**Units.** A plain check costs 1 unit, a deep email check 2; in a batch each distinct item costs what it costs alone. A refused call costs nothing, and neither does a check that failed on our side. A reply with status 200 means that its units are on disk.

**Refusals** are \`{"error":{"code","message"}}\`, on every route. A call is refused in this order: 401, 403, 429, 400 (or 413, 415), 402, 404, 409. An unknown path is answered 404 \`not_found\`, a method that the path does not take 405 \`method_not_allowed\` with \`Allow\`.

**Compression.** Request bodies may be sent with \`Content-Encoding\` \`gzip\`, \`zstd\` or \`deflate\`; the limits hold for what they decode to. Replies of 1 KB and more, streams too, are sent in \`gzip\` or \`zstd\` where \`Accept-Encoding\` asks for it.

**Repeating safely.** Send an \`Idempotency-Key\` with a POST: the same key and body within 24 hours get the same reply again, and nothing is charged twice.
`.trim();

const TAGS = [
  { name: "Email", description: "Whether mail reaches an address." },
  { name: "Identity", description: "Whether a document number can be real." },
  { name: "Phone", description: "Whether a phone number can be real." },
  { name: "Jobs", description: "Lists of up to ten million rows that outlive their call." },
  { name: "Account", description: "The account of the key: these calls cost no units." },
  { name: "Webhooks", description: "Deliveries of events, signed as Standard Webhooks says." },
  { name: "Plans", description: "What it costs." },
  { name: "Directory", description: "Paid services and what was measured of them. Public." },
  { name: "Operation", description: "For those who run the server." },
];

/** Returns the specification of these operations. */
export function openApiDocument(operations: readonly Operation[], version: string): JsonObject {
  const paths = pathsOf(operations);
  return {
    openapi: "3.1.0",
    info: {
      title: "Assay",
      version,
      summary: "Verification of email addresses, identity documents and phone numbers.",
      description: DESCRIPTION,
      contact: { name: "The operator of this server" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "This server." }],
    tags: TAGS,
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "asy_…",
          description: "The key that signup answered.",
        },
      },
      headers: HEADERS,
      parameters: PARAMETERS,
      examples: refusalExamples(JSON.stringify(paths)),
      schemas: {
        ...namedSchemas(REPLIES),
        ...namedSchemas(REQUESTS, writtenRequest),
      },
    },
  };
}

/** The parameters that operations share. */
export const PARAMETERS: JsonObject = {
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "Any text of up to 255 printable characters that names this call: sent again with the same body within 24 hours, it is answered the same and charged nothing.",
    schema: {
      type: "string",
      minLength: 1,
      maxLength: 255,
      pattern: '^(?!""$)[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
    },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "ETags of copies that the caller has: 304 where one of them still holds.",
    schema: { type: "string" },
  },
};

/** Writes operations by path and method. */
export function pathsOf(operations: readonly Operation[]): JsonObject {
  const paths: { [path: string]: { [method: string]: JsonObject } } = {};
  for (const operation of operations) {
    const path = operation.path.replace(/:([^/]+)/g, "{$1}");
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: writtenOperation(operation) };
  }
  return paths;
}
