import { DEFAULTS } from "../../contract/defaults.ts";
import { ApiError } from "../../contract/errors.ts";
import { createReader, queryReader } from "../../contract/schema.ts";
import { JobFields, UploadFields } from "../../contract/specification/jobs/job-fields.ts";
import { createJob } from "../../contract/specification/jobs/jobs.ts";
import type { FieldReader } from "../../jobs/input-reading.ts";
import type { InputForm } from "../../jobs/intake/intake-messages.ts";
import type { JobUpload } from "../../jobs/job.ts";
import type { JobRequest } from "../../jobs/new-job.ts";
import type { Answer } from "../../platform/answer.ts";
import { charsetOf, requireEncoding } from "../bodies/charset.ts";
import { bodyEncoding } from "../bodies/content-encoding.ts";
import { isJson, mediaType, parseJson } from "../bodies/request-body.ts";

const readQuery = queryReader(createJob);
const readFields = createReader(JobFields).body;
const readUploadFields = createReader(UploadFields).body;

type Fields = ReturnType<typeof readUploadFields>;

/** Reads the options of a new job. */
export type JobRequestReader = {
  /** Reads the query; `upload` is true where the input comes in parts. */
  readonly query: (url: string) => { readonly fields: Fields; readonly isUpload: boolean };
  readonly request: (accountId: string, fields: Fields) => Promise<Omit<JobRequest, "form">>;
  /** Reads the fields of a JSON body beside its items, which override earlier ones. */
  readonly fieldsOver: (accountId: string, request: JobRequest) => FieldReader;
};

/** `requireWebhookUrl` throws `invalid_request` for an address that the account may not use. */
export function createJobRequestReader(
  requireWebhookUrl: (accountId: string, url: string) => Answer<void>,
): JobRequestReader {
  async function requestOf(accountId: string, fields: Fields): Promise<Omit<JobRequest, "form">> {
    const { kind = DEFAULTS.jobKind, country, webhook_url } = fields;
    if (country !== undefined && !(await isPhoneCountry(country))) {
      throw new ApiError("invalid_request", "country must be an ISO 3166 alpha-2 code or a calling code.");
    }
    if (fields.encoding !== undefined) requireEncoding(fields.encoding);
    if (webhook_url !== undefined) await requireWebhookUrl(accountId, webhook_url);
    return {
      kind,
      name: fields.name ?? null,
      webhookUrl: webhook_url ?? null,
      options: {
        deep: fields.deep ?? DEFAULTS.deep,
        dns: fields.dns ?? DEFAULTS.dns,
        country: country ?? null,
        type: fields.type ?? null,
        column: fields.column ?? null,
        delimiter: fields.delimiter ?? null,
        encoding: fields.encoding ?? null,
        whenOutOfUnits: fields.when_out_of_units ?? DEFAULTS.whenOutOfUnits,
      },
    };
  }

  return {
    query(url) {
      const { upload, ...fields } = readQuery(url);
      return { fields, isUpload: upload !== undefined };
    },
    request: requestOf,
    fieldsOver: (accountId, request) => async (said) => {
      const { form, options } = request;
      const read = await requestOf(accountId, { ...fieldsOf(request), ...readFields(said) });
      const { upload } = options;
      return { ...read, form, options: upload === undefined ? read.options : { ...read.options, upload } };
    },
  };
}

/** The numbering plans are loaded with the first country, so that the start does not wait for them. */
async function isPhoneCountry(country: string): Promise<boolean> {
  const { readCountry } = await import("../../verification/phone/region.ts");
  return readCountry(country) !== null;
}

/** Returns the wire fields of a request. */
function fieldsOf({ kind, name, webhookUrl, options }: JobRequest): Fields {
  const { deep, dns, whenOutOfUnits, country, type, column, delimiter, encoding } = options;
  const named = { name, webhook_url: webhookUrl, country, type, column, delimiter, encoding };
  const given = Object.entries(named).filter(([, value]) => value !== null);
  return { kind, deep, dns, when_out_of_units: whenOutOfUnits, ...Object.fromEntries(given) };
}

/** Returns the fields with the charset of the input's Content-Type, where they name no encoding themselves. */
export function withCharset(fields: Fields, request: Request): Fields {
  const charset = fields.encoding === undefined ? charsetOf(request) : null;
  return charset === null ? fields : { ...fields, encoding: charset };
}

/** Returns the form of an input by its media type; null for a type without one. */
export function knownForm(request: Request): InputForm | null {
  const type = mediaType(request);
  if (isJson(type)) return "json";
  if (type === "application/x-ndjson" || type === "application/ndjson") return "ndjson";
  if (type === "text/csv") return "csv";
  return type === "text/plain" ? "text" : null;
}

/** Throws `unsupported_media_type` for a body that is not a job's input. */
export function formOf(request: Request): InputForm {
  const form = knownForm(request);
  if (form !== null) return form;
  const known = "application/json, application/x-ndjson, text/csv or text/plain";
  throw new ApiError("unsupported_media_type", `Send the body as ${known}.`);
}

/**
 * Reads the call that creates a job whose parts follow. Its type and encoding are those of the whole input, unless it has a
 * body, which is JSON with options.
 */
export function readUpload(
  request: Request,
  bytes: Uint8Array,
): { readonly fields: Fields; readonly upload: JobUpload } {
  const encoding = bodyEncoding(request);
  const form = knownForm(request);
  const isJsonSaid = form === "json";
  if (bytes.byteLength === 0) {
    // Some clients send `Content-Type: application/json` even without a body.
    const forms = isJsonSaid ? { given: null, otherwise: form } : { given: form, otherwise: null };
    return { fields: {}, upload: { ...forms, said: null, encoding } };
  }
  if (!isJsonSaid) {
    throw new ApiError("invalid_request", "With upload=parts the input comes in the parts; send no body.");
  }
  const body = parseJson(bytes);
  if (typeof body === "object" && body !== null && "items" in body) {
    throw new ApiError("invalid_request", "With upload=parts the items come in the parts.");
  }
  const upload = { given: null, said: null, otherwise: null, encoding: null };
  return { fields: readUploadFields(body), upload };
}
