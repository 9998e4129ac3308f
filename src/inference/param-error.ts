import { ApiError, type ErrorCode } from "../contract/errors.ts";

/** A refusal that names the field of the body that it is about, as OpenAI's clients show it. */
export class ParamError extends ApiError {
  readonly param: string | null;

  constructor(code: ErrorCode, message: string, param: string | null) {
    super(code, message);
    this.param = param;
  }
}
