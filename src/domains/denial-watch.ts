import { emptyLookup, type Lookup, type RecordType, type Resolver } from "../dns/lookup.ts";
import { typoTargets } from "../verification/email/providers.ts";

/**
 * Watches whether the DNS denies what certainly exists: a filter, a captive portal, a resolver that has lost its
 * upstream. As long as it does, nothing is known of anything that it denies.
 */
export type DenialWatch = AsyncDisposable & {
  /** The same look-ups, with every denial an `error` (`untrusted_denial`) while denials are not to be trusted. */
  readonly resolver: Resolver;
  /** A number that changes when denials cease to be trusted, or are again: what was made under another one is void. */
  readonly epoch: () => number;
  /** What is wrong, in one sentence; null where nothing is known to be. */
  readonly trouble: () => string | null;
  /** Settles when the first answers are there; at once where nobody has asked. */
  readonly checked: () => Promise<void>;
  /** Asks for the providers now. */
  readonly probe: () => Promise<void>;
  /** Asks for the providers at once and then every minute. Until the first answers are there, denials wait for them. */
  readonly start: () => void;
};

export type DenialWatchDependencies = {
  readonly resolver: Resolver;
  /** Gets a sentence each minute while something is wrong, and one when it is over. */
  readonly report?: (level: "warn" | "info", sentence: string) => void;
};

const PROBE_INTERVAL_MS = 60_000;
const PROBED_MAX = 3;

/** The domains that are asked for: the largest providers, there for as long as mail is. */
export const PROBED_DOMAINS: readonly string[] = typoTargets()
  .slice(0, PROBED_MAX)
  .map(({ domain }) => domain);

type Round = "mute" | "honest" | { readonly denied: string };

/** Creates a watch that does nothing before `start`. */
export function createDenialWatch({ resolver, report }: DenialWatchDependencies): DenialWatch {
  let denied: string | null = null;
  let isMute = false;
  /** It has answered for a large provider: from then on silence about them says nothing of its denials. */
  let isProven = false;
  let epoch = 0;
  let isStarted = false;
  let firstRound: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setInterval> | undefined;

  function trouble(): string | null {
    if (denied !== null)
      return `The DNS denies that ${denied} exists: nothing that it denies is believed until it finds it. Check DNS_SERVERS.`;
    return isMute ? "The DNS does not answer. Check DNS_SERVERS and the network." : null;
  }

  const isTrusted = () => denied === null && (isProven || !isMute);

  async function probe(): Promise<void> {
    const before = trouble();
    const wasTrusted = isTrusted();
    const round = await askForProviders(resolver);
    isMute = round === "mute";
    isProven ||= round === "honest";
    // Who is silent has neither gone on denying nor stopped.
    if (round !== "mute") denied = round === "honest" ? null : round.denied;
    if (wasTrusted !== isTrusted()) epoch += 1;
    const now = trouble();
    if (now !== null) report?.("warn", now);
    else if (before !== null) report?.("info", "The DNS answers again.");
  }

  async function lookUp<T extends RecordType>(...asked: Parameters<Resolver["lookUp"]>): Promise<Lookup<T>> {
    const lookup = (await resolver.lookUp(...asked)) as Lookup<T>;
    if (lookup.outcome !== "nxdomain" && lookup.outcome !== "nodata") return lookup;
    await firstRound;
    return isTrusted() ? lookup : emptyLookup<T>("error", 0, "untrusted_denial");
  }

  return {
    resolver: { lookUp: lookUp as Resolver["lookUp"] },
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

/** The largest provider that the DNS says anything of decides: the others may be down, or filtered one by one. */
async function askForProviders(resolver: Resolver): Promise<Round> {
  const lookups = await Promise.all(PROBED_DOMAINS.map((domain) => resolver.lookUp(domain, "MX")));
  for (const [at, { outcome }] of lookups.entries()) {
    if (outcome === "answer") return "honest";
    if (outcome === "nxdomain" || outcome === "nodata") return { denied: PROBED_DOMAINS[at] ?? "" };
  }
  return "mute";
}
