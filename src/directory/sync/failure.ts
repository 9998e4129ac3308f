import { FormatError } from "../upstream/row-splitter.ts";
import { UpstreamError } from "../upstream/upstream-limits.ts";

/** What went wrong: in whole for the log, and for everybody without a path, a host or an address. */
export type Failure = { readonly reason: string; readonly shown: string };

/** Of a sync. What is neither the upstream's doing nor the body's may name anything, so only its code is shown. */
export function failureOf(error: unknown): Failure {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const detail = cause instanceof Error ? ` (${systemCode(cause) ?? cause.message})` : "";
  const reason = `${message}${detail}`;
  if (error instanceof FormatError) return { reason, shown: reason };
  if (error instanceof UpstreamError) return { reason, shown: `${error.shown}${codeText(cause)}` };
  return { reason, shown: `the sync broke down${codeText(error)}` };
}

/** Of a stored file. The system's errors name its path. */
export function damageOf(file: string, error: unknown): Failure {
  const reason = `${file}: ${error instanceof Error ? error.message : String(error)}`;
  const isSystems = systemCode(error) !== null;
  return { reason, shown: isSystems ? `${file}: it cannot be read${codeText(error)}` : reason };
}

function codeText(error: unknown): string {
  const code = systemCode(error);
  return code === null ? "" : ` (${code})`;
}

function systemCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : null;
}
