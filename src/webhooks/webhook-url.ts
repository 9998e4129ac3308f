import { ApiError } from "../contract/errors.ts";
import { OutgoingError } from "../net/failure.ts";
import { readTarget, type TargetRules } from "../net/target.ts";

/** Only https, on port 443, to names. The addresses of a name are checked at each attempt. */
export const WEBHOOK_TARGETS = { ports: [443], allowLiterals: false, httpsOnly: true } as const;

/** Throws `invalid_request` for a URL that a webhook may not have; the message names `field`. */
export function requireUrl(field: string, url: string, rules: TargetRules): void {
  try {
    readTarget(url, rules);
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    throw new ApiError(
      "invalid_request",
      `${field} must be an https address with a public name and no port: ${error.message}.`,
    );
  }
}
