import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "./defaults.ts";
import { PhoneCountry } from "./phone-country.ts";
import { Line, LineOrNull, Word } from "./schema.ts";
import { DOCUMENT_TYPES, KEY_SCOPES, PLAN_NAMES } from "./words.ts";

/** What callers send, as schemas: the same ones check the calls and describe them in the specification. */

const Plan = Word(PLAN_NAMES);
const Text = (maxLength: number) => Type.String({ maxLength });

export const EmailQuery = Type.Object({
  email: Type.String({ demand: "must be a string" }),
  deep: Type.Optional(Type.Boolean({ default: DEFAULTS.deep })),
  dns: Type.Optional(Type.Boolean({ default: DEFAULTS.dns })),
});

export const EmailBatchQuery = Type.Object({
  deep: Type.Optional(Type.Boolean({ default: DEFAULTS.deep })),
  dns: Type.Optional(Type.Boolean({ default: DEFAULTS.dns })),
});

/** The JSON bodies of batches. They are described by these, and read by the batch itself in a worker thread. */
export const EmailBatchBody = Type.Object({
  emails: Type.Array(Type.String()),
  deep: Type.Optional(Type.Boolean({ default: DEFAULTS.deep })),
  dns: Type.Optional(Type.Boolean({ default: DEFAULTS.dns })),
});

export const PhoneBatchBody = Type.Object({
  phones: Type.Array(Type.String()),
  country: Type.Optional(PhoneCountry),
});

/** The eight types of documents, as callers name them. */
const DocumentTypeWord = Word(DOCUMENT_TYPES);

export const IdentityItem = Type.Object(
  { type: Type.Optional(DocumentTypeWord), value: Type.String() },
  { $id: "IdentityItem", demand: "must be an object with value" },
);

export const IdentityBatchBody = Type.Object({ items: Type.Array(IdentityItem) });

export const IdentityQuery = Type.Object({ type: DocumentTypeWord, value: Type.String() });

export const AutodetectQuery = Type.Object({ value: Type.String() });

export const PhoneQuery = Type.Object({ phone: Type.String(), country: Type.Optional(PhoneCountry) });

export const PhoneBatchQuery = Type.Object({ country: Type.Optional(PhoneCountry) });

export const SignupBody = Type.Object({
  email: Text(1000),
  name: Type.Optional(LineOrNull(200)),
  company: Type.Optional(LineOrNull(200)),
  country: Type.Optional(LineOrNull(100)),
  plan: Type.Optional(Plan),
  referral_code: Type.Optional(LineOrNull(100)),
});

export const PlanBody = Type.Object({
  plan: Plan,
  spend_limit_usd: Type.Optional(
    Type.Union([Type.String({ pattern: "^\\d{1,9}(?:\\.\\d{1,6})?$" }), Type.Null()], {
      demand: 'must be null or an amount such as "250.00"',
    }),
  ),
});

/** A day, or a moment that stands for its day. */
const Day = Type.String({
  pattern:
    "^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])(?:T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,3})?)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)?)?$",
  demand: "must be a date such as 2026-11-20 or 2026-11-20T10:00:00Z",
});

export const UsageQuery = Type.Object({
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  group_by: Type.Optional(Word(["day", "endpoint"])),
});

export const InvoicesQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: DEFAULTS.invoicesLimit })),
  starting_after: Type.Optional(Line(100)),
});

export const KeyBody = Type.Object({
  name: Type.Optional(LineOrNull(100)),
  mode: Type.Optional(
    Type.Union([Word(["live", "test"]), Type.Null()], { demand: "must be null, live or test" }),
  ),
  scopes: Type.Optional(
    Type.Union([Type.Array(Word(KEY_SCOPES), { minItems: 1, maxItems: 3 }), Type.Null()], {
      demand: `must be null or a list of one to three of ${KEY_SCOPES.join(", ")}`,
    }),
  ),
  expires_at: Type.Optional(
    Type.Union([Text(40), Type.Null()], { demand: "must be null or a string of at most 40 characters" }),
  ),
});

export const RotateBody = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_592_000, default: DEFAULTS.overlapSeconds }),
  ),
});
