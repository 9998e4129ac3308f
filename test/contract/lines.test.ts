import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { KeyBody, SignupBody } from "../../src/contract/result-schemas.ts";
import { createReader } from "../../src/contract/schema.ts";
import { JobFields, JobQuery, UploadFields } from "../../src/contract/specification/jobs/job-fields.ts";
import { WebhookRequest } from "../../src/contract/specification/webhooks/webhook-requests.ts";

const signup = createReader(SignupBody);
const webhook = createReader(WebhookRequest);
const jobs = [createReader(JobFields), createReader(JobQuery), createReader(UploadFields)];

test.each([
  ...["name", "company", "country", "referral_code"].map(
    (field) => [`${field} of a signup`, (text: string) => signup.body({ email: "", [field]: text })] as const,
  ),
  ["name of a key", (text: string) => createReader(KeyBody).body({ name: text })] as const,
  ["name of a job", (text: string) => jobs.map(({ body }) => body({ name: text }))] as const,
  [
    "name of a job in a query",
    (text: string) => jobs.map(({ query }) => query(`/?name=${encodeURIComponent(text)}`)),
  ] as const,
  ["description of a webhook", (text: string) => webhook.body({ url: "x", description: text })] as const,
])(
  "%s: no control character, line separator or direction override, and all else of any script",
  (_, read) => {
    for (const character of [
      "\0",
      "\n",
      "\x7f",
      "\x85",
      "\u2028",
      "\u2029",
      "\u202a",
      "\u202e",
      "\u2066",
      "\u2069",
    ]) {
      expect(() => read(`A${character}B`)).toThrow(ApiError);
    }
    // Marks without which Hebrew and Arabic beside brackets are not as they were written.
    for (const text of ["", "Zoë & Søn", "\u05d7\u05d1\u05e8\u05d4 (\u05d9)\u200f", "株式会社", "🐢"])
      read(text);
  },
);
