import { emptyLookup, isDenial, type Lookup, type RecordType, type Resolver } from "../dns/lookup.ts";
import type { QueryAllowance } from "../dns/query-allowance.ts";
import { typoTargets } from "../verification/email/providers.ts";

/**
 * Watches whether the DNS denies domains that certainly exist, as a filter, a captive portal or a resolver without an
 * upstream does. While it does, no denial is trusted.
 */
export type DenialWatch = AsyncDisposable & {
  /** Look-ups in which a denial is an `error` (`untrusted_denial`) while denials are not trusted. */
  readonly resolver: Resolver;
  /** A number that changes when trust is lost or regained: results of another epoch are invalid. */
  readonly epoch: () => number;
  /** A sentence about the fault; null without one. */
  readonly trouble: () => string | null;
  /** Settles with the first answers; at once before `start`. */
  readonly checked: () => Promise<void>;
  /** Looks the providers up now. */
  readonly probe: () => Promise<void>;
  /** Looks the providers up now and every minute. Denials wait for the first answers. */
  readonly start: () => void;
};

export type DenialWatchDependencies = {
  readonly resolver: Resolver;
  /** Called with a sentence each minute during a fault, and one at its end. */
  readonly report?: (level: "warn" | "info", sentence: string) => void;
};

const PROBE_INTERVAL_MS = 60_000;
const PROBED_MAX = 3;

/** The domains that are looked up: the largest providers. */
export const PROBED_DOMAINS: readonly string[] = typoTargets()
  .slice(0, PROBED_MAX)
  .map(({ domain }) => domain);

type Round = "silent" | "answering" | { readonly denied: string };

/** Creates a watch that does nothing before `start`. */
export function createDenialWatch({ resolver, report }: DenialWatchDependencies): DenialWatch {
  let denied: string | null = null;
  let isSilent = false;
  /** Whether it has ever answered for a provider: from then on a time-out does not change the trust in denials. */
  let isProven = false;
  let epoch = 0;
  let isStarted = false;
  let firstRound: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | undefined;

  function trouble(): string | null {
    if (denied !== null)
      return `The DNS denies that ${denied} exists: nothing that it denies is believed until it finds it. Check DNS_SERVERS.`;
    return isSilent ? "The DNS does not answer. Check DNS_SERVERS and the network." : null;
  }

  const isTrusted = () => denied === null && (isProven || !isSilent);

  async function probe(): Promise<void> {
    const before = trouble();
    const wasTrusted = isTrusted();
    const round = await lookUpProviders(resolver);
    isSilent = round === "silent";
    isProven ||= round === "answering";
    // A time-out shows neither that the denials continue nor that they have ended.
    if (round !== "silent") denied = round === "answering" ? null : round.denied;
    if (wasTrusted !== isTrusted()) epoch += 1;
    const now = trouble();
    if (now !== null) report?.("warn", now);
    else if (before !== null) report?.("info", "The DNS answers again.");
  }

  function lookUp<T extends RecordType>(
    name: string,
    type: T,
    allowance?: QueryAllowance,
  ): Promise<Lookup<T>> {
    return resolver
      .lookUp(name, type, allowance)
      .then((lookup) => (isDenial(lookup) ? trustedDenial(lookup) : lookup));
  }

  async function trustedDenial<T extends RecordType>(lookup: Lookup<T>): Promise<Lookup<T>> {
    await firstRound;
    return isTrusted() ? lookup : emptyLookup<T>("error", 0, "untrusted_denial");
  }

  return {
    resolver: { lookUp },
    epoch: () => epoch,
    trouble,
    checked: () => firstRound,
    probe,
    start() {
      if (isStarted) return;
      isStarted = true;
      firstRound = probe();
      timer = setInterval(() => void probe(), PROBE_INTERVAL_MS);
      timer.unref();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
    },
  };
}

/** Looks up the providers. The largest one with an answer decides, as others may be down or filtered. */
async function lookUpProviders(resolver: Resolver): Promise<Round> {
  const lookups = await Promise.all(PROBED_DOMAINS.map((domain) => resolver.lookUp(domain, "MX")));
  for (const [at, { outcome }] of lookups.entries()) {
    if (outcome === "answer") return "answering";
    if (outcome === "nxdomain" || outcome === "nodata") return { denied: PROBED_DOMAINS[at] ?? "" };
  }
  return "silent";
}
