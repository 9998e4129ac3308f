import { writtenEmail } from "../batch/written-email.ts";
import type { EmailCheck } from "../domains/email-check.ts";
import type { DomainFactsSource } from "../domains/facts.ts";
import type { KnownDomain } from "../domains/known-domains.ts";
import type { DomainListing } from "../domains/lists.ts";
import type { Clock } from "../platform/clock.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { isTestTenant } from "../platform/test-tenant.ts";
import type { DomainFacts } from "../verification/email/domain-facts.ts";
import { checkFailed, type WrittenVerification } from "../verification/email/verification.ts";
import { MADE_UP_DOMAINS } from "./test-addresses.ts";
import type { openTestFacts } from "./test-facts.ts";

/**
 * Returns the look-ups of test keys: those of the demo's made-up DNS, which this process starts with the first of them.
 * Most servers never meet a test key, and their start need not wait for it.
 */
export function createTestFacts(
  dependencies: { readonly clock: Clock; readonly lists: DomainListing },
  stack: AsyncDisposableStack,
): Pick<DomainFactsSource, "findDomain" | "knownDomain"> {
  let opening: ReturnType<typeof openTestFacts> | undefined;
  const facts = loadedOnce(() => {
    opening = import("./test-facts.ts").then((module) => module.openTestFacts(dependencies));
    return opening;
  });
  stack.defer(async () => (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]());
  const madeUp = madeUpDomains();
  return {
    findDomain: async (domain, options) =>
      madeUp.get(domain) ?? (await facts.get()).findDomain(domain, options),
    knownDomain: (domain, options, nowMs) =>
      madeUp.get(domain) ?? facts.known()?.knownDomain(domain, options, nowMs),
  };
}

/** Lets the tenants of test keys look up with a source of their own. */
export function byTenant(
  live: DomainFactsSource,
  test: ReturnType<typeof createTestFacts>,
): DomainFactsSource {
  const sourceOf = (tenant = "") => (isTestTenant(tenant) ? test : live);
  return {
    ...live,
    findDomain: (domain, options) => sourceOf(options.tenant).findDomain(domain, options),
    knownDomain: (domain, options, nowMs) => sourceOf(options.tenant).knownDomain(domain, options, nowMs),
  };
}

/** A check that breaks is answered as one, where a test key asks for it: nothing is broken then. */
export function withMadeUpFailure(check: EmailCheck<WrittenVerification>): EmailCheck<WrittenVerification> {
  const ending = `@${MADE_UP_DOMAINS.checkFailed}`;
  return (text, options) =>
    isTestTenant(options.tenant ?? "") && text.endsWith(ending)
      ? writtenEmail(checkFailed(text))
      : check(text, options);
}

function madeUpDomains(): ReadonlyMap<string, KnownDomain> {
  const lists = { disposable: null, freeProvider: false } as const;
  const { timeout, notChecked, sendsNoMail, checkFailed: broken } = MADE_UP_DOMAINS;
  const spf = { state: "found", all: "-", sendsNoMail: true } as const;
  const policy = { spf, dmarc: { state: "none", policy: null } } as const;
  const facts: readonly DomainFacts[] = [
    { domain: timeout, lists, mail: { state: "timeout" } },
    { domain: notChecked, lists, mail: { state: "not_checked" } },
    { domain: sendsNoMail, lists, mail: { state: "implicit_mx" }, policy },
  ];
  const known = (json: string): KnownDomain => ({
    json,
    epoch: 0,
    expiresAtMs: Number.POSITIVE_INFINITY,
    isFailure: false,
    domainVerdict: null,
  });
  return new Map([
    ...facts.map((each) => [each.domain, known(JSON.stringify(each))] as const),
    // Facts that no check can read.
    [broken, known("null")] as const,
  ]);
}
