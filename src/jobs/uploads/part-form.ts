import { ApiError } from "../../contract/errors.ts";
import { decoderFor } from "../intake/decoding.ts";
import type { InputForm } from "../intake/intake-messages.ts";
import type { JobOptions, JobUpload } from "../job.ts";

/** What the Content-Type of a part says. */
export type PartForm = {
  /** Null where nothing is said. */
  readonly form: InputForm | null;
  /** Its charset, of a form that has one; null where nothing is said. */
  readonly charset: string | null;
};

/**
 * Returns the options of a job with what the part of a number says; the same ones where nothing is new. Parts of one
 * input are of one form and charset; what the upload itself names goes before theirs. A part that alone has named
 * the form, or the charset, may name another when it is sent again. Throws `invalid_request` where parts disagree.
 */
export function withPartForm(options: JobOptions, upload: JobUpload, n: number, part: PartForm): JobOptions {
  const { form, charset } = part;
  if (form === null || upload.given !== null) return options;
  const known = withoutWordOf(n, options, upload);
  const noted = noteForm(known, known.upload ?? upload, n, { form, charset });
  return Bun.deepEquals(noted, options) ? options : noted;
}

function noteForm(
  options: JobOptions,
  upload: JobUpload,
  n: number,
  { form, charset: partCharset }: PartForm & { readonly form: InputForm },
): JobOptions {
  if (upload.said !== null && upload.said !== form) throw otherParts(upload.said);
  const saidCharset = upload.charset ?? null;
  const isNamed = options.encoding !== null && saidCharset === null;
  const charset = isNamed ? null : partCharset;
  if (charset !== null && saidCharset !== null && encodingOf(charset) !== encodingOf(saidCharset)) {
    throw otherParts(saidCharset);
  }
  const said = { ...upload, said: form, saidBy: upload.said === null ? n : null };
  if (charset === null) return { ...options, upload: said };
  if (saidCharset !== null) return { ...options, upload: { ...said, charsetBy: null } };
  // UTF-8 is read unless a byte order mark says otherwise.
  const encoding = encodingOf(charset) === "utf-8" ? null : charset;
  return { ...options, encoding, upload: { ...said, charset, charsetBy: n } };
}

/** Returns the options without what this part alone has named. */
function withoutWordOf(n: number, options: JobOptions, upload: JobUpload): JobOptions {
  const isForm = upload.saidBy === n;
  const form = isForm ? { said: null, saidBy: null } : {};
  const { charset, charsetBy = null, ...others } = upload;
  const isCharset = charset !== undefined && (isForm || charsetBy === n);
  if (!isCharset) return { ...options, upload: { ...upload, ...form } };
  return { ...options, encoding: null, upload: { ...others, ...form } };
}

const encodingOf = (label: string): string => decoderFor(label).encoding;

function otherParts(said: string): ApiError {
  return new ApiError("invalid_request", `Content-Type: other parts of the job are ${said}.`);
}
