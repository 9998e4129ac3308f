import { FormatError } from "../upstream/row-splitter.ts";
import { UpstreamError } from "../upstream/upstream-limits.ts";

/** A failure: in full for the log, and without paths, hosts and addresses for everybody. */
export type Failure = { readonly reason: string; readonly shown: string };

/**
 * Returns the failure of a sync. Of an error that is neither the upstream's nor the body's only the code is shown, as
 * its message may contain anything.
 */
export function failureOf(error: unknown): Failure {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const detail = cause instanceof Error ? ` (${systemCode(cause) ?? cause.message})` : "";
  const reason = `${message}${detail}`;
  if (error instanceof FormatError) return { reason, shown: reason };
  if (error instanceof UpstreamError) return { reason, shown: `${error.shown}${codeText(cause)}` };
  return { reason, shown: `the sync broke down${codeText(error)}` };
}

/** Returns the failure of a stored file. System errors contain its path, so only their code is shown. */
export function damageOf(file: string, error: unknown): Failure {
  const reason = `${file}: ${error instanceof Error ? error.message : String(error)}`;
  const isSystemError = systemCode(error) !== null;
  return { reason, shown: isSystemError ? `${file}: it cannot be read${codeText(error)}` : reason };
}

function codeText(error: unknown): string {
  const code = systemCode(error);
  return code === null ? "" : ` (${code})`;
}

function systemCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" && /^\w+$/.test(code) ? code : null;
}
