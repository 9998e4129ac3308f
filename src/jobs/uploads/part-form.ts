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
 * Returns the options of a job with what a part says; the same ones where nothing is new. Parts of one input are of one form
 * and charset; what the upload itself names goes before theirs. Throws `invalid_request` where they disagree.
 */
export function withPartForm(options: JobOptions, upload: JobUpload, part: PartForm): JobOptions {
  const { form } = part;
  if (form === null || upload.given !== null) return options;
  if (upload.said !== null && upload.said !== form) throw otherParts(upload.said);
  const saidCharset = upload.charset ?? null;
  const isNamed = options.encoding !== null && saidCharset === null;
  const charset = isNamed ? null : part.charset;
  if (charset !== null && saidCharset !== null && encodingOf(charset) !== encodingOf(saidCharset)) {
    throw otherParts(saidCharset);
  }
  const said = { ...upload, said: form };
  if (charset === null || saidCharset !== null) {
    return upload.said === form ? options : { ...options, upload: said };
  }
  // UTF-8 is read unless a byte order mark says otherwise.
  const encoding = encodingOf(charset) === "utf-8" ? null : charset;
  return { ...options, encoding, upload: { ...said, charset } };
}

const encodingOf = (label: string): string => decoderFor(label).encoding;

function otherParts(said: string): ApiError {
  return new ApiError("invalid_request", `Content-Type: other parts of the job are ${said}.`);
}
