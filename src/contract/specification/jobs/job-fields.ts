import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../../defaults.ts";
import { PhoneCountry } from "../../phone-country.ts";
import { Line, Word } from "../../schema.ts";
import { DOCUMENT_TYPES } from "../../words.ts";
import { described } from "../operation.ts";

const options = {
  kind: Type.Optional(Word(["email", "identity", "phone"])),
  name: Type.Optional(Line(200)),
  deep: Type.Optional(Type.Boolean()),
  dns: Type.Optional(Type.Boolean()),
  country: Type.Optional(PhoneCountry),
  type: Type.Optional(Word(DOCUMENT_TYPES)),
  when_out_of_units: Type.Optional(Word(["refuse", "pause"])),
  webhook_url: Type.Optional(Line(2_000)),
};

const optionTexts = {
  kind: `What the rows are; ${DEFAULTS.jobKind} where it is not named.`,
  name: "Your own name for the job.",
  deep: "As for a batch of addresses.",
  dns: "As for a batch of addresses.",
  country: "As for a batch of phone numbers.",
  type: "The type of all documents that name none; without it each is detected.",
  when_out_of_units: "`refuse` (402 at the start) or `pause` (go on when there are units again).",
  webhook_url:
    "An https address that receives the events of this job alone, signed with the secret of the account's first webhook.",
};

const csvOptions = {
  column: Type.Optional(Type.String({ maxLength: 200 })),
  delimiter: Type.Optional(
    Type.String({
      pattern: '^[^\\ud800-\\udfff"\\r\\n\\u0000]$',
      demand: "must be one character that is no quote and ends no line",
    }),
  ),
  encoding: Type.Optional(Type.String({ maxLength: 40 })),
};

const csvTexts = {
  column: "The column of a CSV file by its header or its number from 1; found where it is not named.",
  delimiter: "Of a CSV file; found where it is not named.",
  encoding:
    "A label of the WHATWG Encoding Standard such as `windows-1252`. Where it is not named: the charset of Content-Type, which JSON does not have; UTF-8, or what a byte order mark says, without one.",
};

export const JobQuery = described(
  Type.Object({ ...options, ...csvOptions, upload: Type.Optional(Word(["parts"])) }),
  {
    ...optionTexts,
    ...csvTexts,
    upload:
      "`parts`: the input comes in parts, and the call has no body or JSON with options. Its Content-Type and Content-Encoding are those of the whole input.",
  },
);

/** What a call that creates an upload may say in its body. */
export const UploadFields = described(Type.Object({ ...options, ...csvOptions }), {
  ...optionTexts,
  ...csvTexts,
});

export const JobFields = described(Type.Object({ ...options }), optionTexts);

export const JobRequest = described(
  Type.Object({
    ...options,
    items: Type.Array(
      Type.Union([
        Type.String(),
        Type.Object({ type: Type.Optional(Word(DOCUMENT_TYPES)), value: Type.String() }),
      ]),
    ),
  }),
  { ...optionTexts, items: "Addresses or phone numbers as strings, documents as strings or objects." },
  "JobRequest",
);

export const jobId = { job_id: "The job's id." };
