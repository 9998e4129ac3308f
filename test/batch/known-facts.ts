import type { FactsOffset } from "../../src/batch/shared-facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";

/** Returns a domain of which nothing was looked up; `padding` makes its facts longer. */
export function known(domain: string, padding = ""): KnownDomain {
  const facts = {
    domain,
    mail: { state: "not_checked" as const },
    lists: { disposable: null, freeProvider: false },
  };
  return {
    json: JSON.stringify({ ...facts, padding }),
    epoch: 0,
    expiresAtMs: Number.POSITIVE_INFINITY,
    isFailure: false,
    domainVerdict: null,
  };
}

/** Returns the text of facts in their buffer. */
export function read({ buffer, start, end }: FactsOffset): string {
  return Buffer.from(buffer.memory).toString("utf8", start, end);
}
