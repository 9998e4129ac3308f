import { getDomain } from "tldts";
import { madeOnce } from "../platform/made-once.ts";
import type { DomainLists } from "../verification/email/domain-facts.ts";
import { providerOf } from "../verification/email/providers.ts";
import disposableText from "./data/disposable-domains.txt" with { type: "text" };
import freeText from "./data/free-domains.txt" with { type: "text" };
import throwawayHostsText from "./data/throwaway-mail-hosts.txt" with { type: "text" };

export type DomainListing = {
  readonly listsOf: (domain: string, mxHosts: readonly string[]) => DomainLists;
};

/**
 * Creates the look-up of domains, in A-label form and lower case, and of their mail hosts in the lists. The sets take
 * about 3 MB, so there is one for the process, made with the first domain that is not a provider's. A domain of the
 * provider table is never disposable.
 */
export function createDomainLists(): DomainListing {
  const made = madeOnce(() => ({
    disposable: entries(disposableText),
    free: entries(freeText),
    throwawayHosts: entries(throwawayHostsText),
  }));
  return {
    listsOf(domain, mxHosts) {
      const provider = providerOf(domain);
      if (provider !== undefined) return { disposable: null, freeProvider: provider.kind !== "company" };
      const { disposable, free, throwawayHosts } = made.get();
      if (isListed(disposable, domain)) return { disposable: "listed", freeProvider: false };
      if (mxHosts.some((host) => isListed(throwawayHosts, host))) {
        return { disposable: "mail_host", freeProvider: false };
      }
      return { disposable: null, freeProvider: free.has(domain) };
    },
  };
}

function entries(text: string): ReadonlySet<string> {
  return new Set(text.split("\n").filter((line) => line !== "" && !line.startsWith("#")));
}

/**
 * Returns whether the set contains the name or a parent of it, up to the registrable domain and never a public
 * suffix. Most names are not listed, and are not searched for their registrable domain.
 */
function isListed(set: ReadonlySet<string>, name: string): boolean {
  const last = name.lastIndexOf(".");
  for (let start = 0; start < last; start = name.indexOf(".", start) + 1) {
    if (set.has(name.slice(start))) return name.length - start >= registrableLength(name);
  }
  return false;
}

function registrableLength(name: string): number {
  const registrable = getDomain(name, {
    allowPrivateDomains: false,
    extractHostname: false,
    mixedInputs: false,
  });
  return registrable?.length ?? Number.POSITIVE_INFINITY;
}
