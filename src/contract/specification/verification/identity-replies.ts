import { type TObject, Type } from "@sinclair/typebox";
import {
  DOCUMENT_TYPES,
  type DocumentType,
  IDENTITY_REASONS,
  IDENTITY_STRENGTHS,
  IDENTITY_WARNINGS,
} from "../../words.ts";
import { type Body, nullable, text, textOrNull, word, wordOrNull } from "../reply-schema.ts";
import { batchOf, ValidSummary } from "./batch-replies.ts";

const Warnings = Type.Array(word(IDENTITY_WARNINGS, "A finding that leaves the number valid."));

function outcomeFields(type: DocumentType) {
  return {
    type: Type.Literal(type),
    value: text("As given; a card number is masked to its first six and last four digits."),
    valid: Type.Boolean(),
    reason: wordOrNull(
      IDENTITY_REASONS,
      "The first check that failed, in the order in which they are made; null where the number is valid.",
    ),
    message: textOrNull("One sentence on the reason."),
    normalized: textOrNull("The compact form."),
    formatted: textOrNull("The customary written form."),
    country: textOrNull("ISO 3166 alpha-2."),
    strength: word(
      IDENTITY_STRENGTHS,
      "How much arithmetic stands behind `valid`; `format` where the number has no check digit.",
    ),
    warnings: Warnings,
    data_version: textOrNull("The version of the registry that was used."),
    details: (detailsOf as { readonly [T in DocumentType]?: TObject })[type] ?? Type.Object({}),
  };
}

const boolOrNull = (description: string) => nullable(Type.Boolean(), description);

/** What `details` holds; a type that is not here has none. */
const detailsOf = {
  cpf: Type.Object({
    region: textOrNull("The states of the fiscal region that issued it.", "PR, SC"),
    expected_check_digits: textOrNull("What the check digits would have to be."),
  }),
  cnpj: Type.Object({
    root: textOrNull("The company: the first eight characters."),
    branch: textOrNull("The establishment: the next four."),
    alphanumeric: boolOrNull("The number has letters, as those issued from July 2026 on may."),
    expected_check_digits: textOrNull("What the check digits would have to be."),
  }),
  iban: Type.Object({
    check_digits: textOrNull("The two behind the country."),
    expected_check_digits: textOrNull("What they would have to be."),
    bban: textOrNull("The national account number."),
    bank_code: textOrNull("The bank's part of it."),
    branch_code: textOrNull("The branch's part of it."),
    account_number: textOrNull("The account's part of it."),
    national_check: word(["pass", "fail", "not_checked"], "What the country's own check digits say."),
    sepa: boolOrNull("The country takes part in SEPA."),
  }),
  vat: Type.Object({
    prefix: textOrNull("The country's prefix; EL for Greece."),
    number: textOrNull("What stands behind it."),
  }),
  card: Type.Object({
    brand: textOrNull("The network.", "visa"),
    iin: textOrNull("The first six digits."),
    last4: textOrNull("The last four digits."),
    length: nullable(Type.Integer(), "The number of digits."),
    cvv_length: nullable(Type.Integer(), "The length of the brand's security code."),
  }),
  isbn: Type.Object({
    isbn10: textOrNull("The old form; null for a number of 979."),
    isbn13: textOrNull("The present form."),
    hyphenated10: textOrNull("The old form with its hyphens."),
    hyphenated13: textOrNull("The present form with its hyphens."),
    group: textOrNull("The GS1 element and the registration group.", "978-3"),
    group_name: textOrNull("The country or language area of the group."),
  }),
  ean13: Type.Object({
    gs1_prefix: textOrNull("The first three digits."),
    issuer: textOrNull("Who issued the prefix, which says nothing of where the goods come from."),
    class: wordOrNull(
      ["product", "restricted", "coupon", "refund", "issn", "isbn", "ismn"],
      "What the number's range is used for.",
    ),
  }),
  ein: Type.Object({
    prefix: textOrNull("The first two digits."),
    campus: nullable(
      Type.Array(Type.String()),
      "The IRS campuses that assign the prefix; empty where none does.",
    ),
  }),
};

/** What autodetection adds to the result of the type that fits best. */
const ranking = {
  detected: wordOrNull(DOCUMENT_TYPES, "The type that fits best; null where none does."),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  candidates: Type.Array(
    Type.Object(
      {
        type: word(DOCUMENT_TYPES, "The type of document."),
        confidence: Type.Number({ minimum: 0, maximum: 1 }),
      },
      { $id: "Candidate" },
    ),
    { description: "By falling confidence, the winner first." },
  ),
};

const schemaName = (type: DocumentType) => `${type.charAt(0).toUpperCase()}${type.slice(1)}`;

/** The verdict on one document. What `details` holds goes by its type. */
export const IdentityResult = Type.Union(
  DOCUMENT_TYPES.map((type) => Type.Object(outcomeFields(type), { $id: `${schemaName(type)}Result` })),
  { $id: "IdentityResult", description: "The verdict on one document; `details` goes by its type." },
);

/** Only null; written as what it may be elsewhere, since typed clients drop a field that can be nothing but null. */
const nothing = (type: "string" | "object") =>
  Type.Unsafe<null>({ type: [type, "null"], description: "Null." });

const undetectedFields = {
  type: nothing("string"),
  value: text("As given; what may be a card number is masked."),
  valid: Type.Literal(false),
  reason: wordOrNull(
    ["length", "check_failed"],
    "What kept the value from being looked at: over 64 characters, or our own check broke.",
  ),
  message: textOrNull("One sentence on the reason."),
  normalized: nothing("string"),
  formatted: nothing("string"),
  country: nothing("string"),
  strength: nothing("string"),
  warnings: Warnings,
  data_version: nothing("string"),
  details: nothing("object"),
};

/** The result of the type that fits best, with the ranking that it won. Flat, for readers that know no `allOf`. */
export const DetectedResult = Type.Union(
  [
    ...DOCUMENT_TYPES.map((type) =>
      Type.Object({ ...outcomeFields(type), ...ranking }, { $id: `Detected${schemaName(type)}` }),
    ),
    Type.Object(
      { ...undetectedFields, ...ranking },
      { $id: "Undetected", description: "A value that has the shape of no document." },
    ),
  ],
  { $id: "DetectedResult", description: "The result of the type that fits best, with its ranking." },
);

export const IdentityBatch = batchOf(
  "IdentityBatch",
  Type.Union([DetectedResult, IdentityResult]),
  ValidSummary,
  " Items without a type are detected.",
);
export type UndetectedBody = Body<TObject<typeof undetectedFields>>;
export type CandidateBody = Body<typeof ranking.candidates>[number];
export type DetailsByType = {
  readonly [T in DocumentType]: T extends keyof typeof detailsOf
    ? Body<(typeof detailsOf)[T]>
    : Readonly<Record<string, never>>;
};
