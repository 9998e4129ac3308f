import { ApiError } from "../contract/errors.ts";
import { OutgoingError } from "../net/failure.ts";
import { readTarget, type TargetRules } from "../net/target.ts";

/** Only https, on its own port, to names; what a name resolves to is checked at each attempt. */
export const WEBHOOK_TARGETS = { ports: [443], allowLiterals: false, httpsOnly: true } as const;

/** Throws `invalid_request` for an address that a webhook may not have; `field` names it to the caller. */
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
