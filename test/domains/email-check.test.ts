import { expect, test } from "bun:test";
import { createEmailChecks } from "../../src/domains/email-check.ts";
import type { DomainFactsSource } from "../../src/domains/facts.ts";
import type { KnownDomain } from "../../src/domains/known-domains.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createAddressParser } from "../../src/verification/email/address.ts";
import { createAddressVerifier } from "../../src/verification/email/verification.ts";
import { factsFrom } from "../verification/email/facts.ts";

const OPTIONS = { deep: false, dns: true };

/** A source that knows every domain whose name it is asked for. */
function knowingSource() {
  const domains = new Map<string, KnownDomain>();
  const knownDomain = (domain: string) => {
    const known = domains.get(domain) ?? {
      json: JSON.stringify(factsFrom(domain, "mx")),
      epoch: 0,
      expiresAtMs: Number.POSITIVE_INFINITY,
      isFailure: false,
      domainVerdict: null,
    };
    domains.set(domain, known);
    return known;
  };
  return { domains, source: { knownDomain } as unknown as DomainFactsSource };
}

test("verdicts on domains are cached up to the limit, and then dropped", () => {
  const { domains, source } = knowingSource();
  const parser = createAddressParser();
  const checks = createEmailChecks({
    source,
    clock: systemClock,
    parser,
    timeoutMs: 1000,
    domainVerdictsMax: 10,
  });
  const check = checks(createAddressVerifier(parser));
  const other = checks((text) => text);
  const kept = () => [...domains.values()].filter(({ domainVerdict }) => domainVerdict !== null).length;
  for (let n = 0; n < 95; n += 1) {
    expect(check(`jane@d${n}.com`, OPTIONS)).toMatchObject({ status: "deliverable" });
    expect(other(`john@d${n}.com`, OPTIONS)).toBe(`john@d${n}.com`);
    expect(kept()).toBeLessThanOrEqual(10);
  }
  expect(kept()).toBe(5);
});
