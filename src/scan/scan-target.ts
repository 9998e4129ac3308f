import { OutgoingError } from "../net/failure.ts";
import { readTarget, type TargetRules } from "../net/target.ts";
import { readOrigin } from "./origin.ts";

/** The origin to scan, and its resources that the caller names. */
export type ScanTarget = {
  /** Normalised by `readOrigin`. */
  readonly origin: string;
  readonly resources: readonly string[];
};

/** Returns the target, or the sentence that says why it may not be scanned. Resolves no name. */
export function readScanTarget(
  text: string,
  resources: readonly string[],
  rules: TargetRules,
): ScanTarget | string {
  const origin = readOrigin(text);
  if (origin === null) return "origin must be an http or https origin.";
  try {
    const { host } = readTarget(origin, rules);
    const isElsewhere = resources.some((resource) => readTarget(resource, rules).host !== host);
    return isElsewhere ? "resources must be addresses on the origin's host." : { origin, resources };
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error;
    return `This origin may not be scanned: ${error.message}.`;
  }
}
