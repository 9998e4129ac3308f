import type { DnsCache } from "../dns/cache.ts";
import type { QueryAllowance } from "../dns/query-allowance.ts";
import type { Clock } from "../platform/clock.ts";
import { createWaitLimits, type WaitLimits } from "../platform/wait-limits.ts";
import type { DomainFacts, MailPolicy, MailRouting } from "../verification/email/domain-facts.ts";
import { createFreshFacts, createKnownDomains, type KnownDomain, withJson } from "./known-domains.ts";
import type { DomainListing } from "./lists.ts";
import { createMailHosts } from "./mail-hosts.ts";
import { createMailPolicies, type PolicyFinding } from "./mail-policy.ts";
import { createMailRouting, type RoutingFinding } from "./mail-routing.ts";

export type FactsOptions = {
  /** False for the facts of the lists alone, without look-ups. */
  readonly dns: boolean;
  /** Whether SPF and DMARC are looked up too. */
  readonly deep: boolean;
  /** Whose share of the look-ups is used; read by wrappers of a source. */
  readonly tenant?: string;
  /** The deadline of this caller, on `Clock.monotonic`. */
  readonly deadlineMs?: number;
  /** Ends this caller's wait when aborted. */
  readonly signal?: AbortSignal;
};

/** The source of facts about mail domains, which are named in A-label form and lower case. */
export type DomainFactsSource = {
  /**
   * Finds the facts, from the cache or the DNS. Never rejects. At the caller's deadline, missing facts are `timeout`, or
   * targets `unknown` where the exchangers are known, and SPF and DMARC `temperror`; the look-ups continue for the cache.
   */
  readonly findDomain: (domain: string, options: FactsOptions) => Promise<KnownDomain>;
  /**
   * Returns the cached facts that have not expired, the same object each time. Takes a fraction of a microsecond. `nowMs`,
   * the time on `Clock.monotonic`, saves a look at the clock for each of many.
   */
  readonly knownDomain: (domain: string, options: FactsOptions, nowMs?: number) => KnownDomain | undefined;
  readonly stats: () => FactsStats;
};

export type FactsStats = { readonly hits: number; readonly misses: number; readonly entries: number };

export type DomainFactsDependencies = {
  readonly cache: DnsCache;
  readonly lists: DomainListing;
  readonly clock: Clock;
  /** Domains kept for each of the three kinds of question: offline, plain, deep. */
  readonly entriesMax?: number;
  /** Facts of another epoch are invalid. */
  readonly epoch?: () => number;
};

const ENTRIES_MAX = 100_000;
/**
 * Bytes of usual facts, by kind. They bound the cache of a kind, times its entries, as a domain may name 4 KB of
 * exchangers. Offline facts are cheap to make again.
 */
const BYTES_PER_ENTRY = { offline: 200, plain: 500, deep: 400 };

type Kind = keyof typeof BYTES_PER_ENTRY;

/** What is cached for each kind of question: made with its first domain, as a table has room for all its entries. */
type Tables = { [kind in Kind]: ReturnType<typeof createKnownDomains> | null };

/**
 * Queries that one domain may cause, whatever its records are. The MX look-up, its own records of SPF and DMARC and the
 * preferred exchangers come first, then the names in SPF, the parents for DMARC, and the other exchangers.
 */
const QUERIES_MAX = 20;
/** Queries reserved for the preferred exchangers: enough for the five of the largest providers. */
const PREFERRED_QUERIES = 10;
const POLICY_AT_DEADLINE: MailPolicy = {
  spf: { state: "temperror", all: null, sendsNoMail: false },
  dmarc: { state: "temperror", policy: null },
};

/** Single flight: facts that are being looked up, shared by all their callers. */
type Gathering = {
  readonly whole: Promise<KnownDomain>;
  /** The part of the routing that is known so far. */
  readonly sofar: { mail: MailRouting };
};

/**
 * Creates the source of domain facts. Complete facts are cached for the shortest TTL of their look-ups, so that a known
 * domain costs one access to a table.
 *
 * @example
 * const facts = createDomainFacts({ cache, lists: createDomainLists(), clock: systemClock });
 * const { mail } = factsIn(await facts.findDomain("example.com", { dns: true, deep: false }));
 */
export function createDomainFacts(dependencies: DomainFactsDependencies): DomainFactsSource {
  const { cache, lists, clock, entriesMax = ENTRIES_MAX, epoch = () => 0 } = dependencies;
  const mailHosts = createMailHosts({ cache, clock, epoch });
  const routing = createMailRouting({ cache, mailHosts });
  const policies = createMailPolicies({ cache });
  const tables: Tables = { offline: null, plain: null, deep: null };
  const limits = createWaitLimits(clock);
  const fresh = createFreshFacts();
  const gatherings = { plain: new Map<string, Gathering>(), deep: new Map<string, Gathering>() };
  const counts = { hits: 0, misses: 0 };

  function knownDomain(domain: string, { dns, deep }: FactsOptions, nowMs?: number): KnownDomain | undefined {
    const known = (!dns ? tables.offline : deep ? tables.deep : tables.plain)?.get(domain);
    if (known === undefined) return undefined;
    if (dns && (known.epoch !== epoch() || known.expiresAtMs <= (nowMs ?? clock.monotonic()))) {
      return undefined;
    }
    counts.hits++;
    return known;
  }

  async function findDomain(domain: string, options: FactsOptions): Promise<KnownDomain> {
    const known = knownDomain(domain, options);
    if (known !== undefined) return known;
    counts.misses++;
    if (!options.dns) return keepOffline(domain);
    if (hasEnded(options)) return factsAtDeadline(domain, options, null);
    const gathering = gather(domain, options.deep);
    const whole = await withinLimits(gathering.whole, options, limits);
    if (whole !== null && whole.epoch !== epoch()) return findDomain(domain, options);
    return whole ?? factsAtDeadline(domain, options, gathering);
  }

  function hasEnded({ deadlineMs, signal }: FactsOptions): boolean {
    return signal?.aborted === true || (deadlineMs !== undefined && clock.monotonic() >= deadlineMs);
  }

  function keepOffline(domain: string): KnownDomain {
    const known = withJson(factsFrom(domain, { state: "not_checked" }), {
      epoch: 0,
      expiresAtMs: Number.POSITIVE_INFINITY,
    });
    keep("offline", domain, known);
    return known;
  }

  function keep(kind: Kind, domain: string, known: KnownDomain): void {
    const table = tables[kind] ?? createKnownDomains(entriesMax, BYTES_PER_ENTRY[kind]);
    tables[kind] = table;
    table.set(domain, known);
  }

  /** Starts the look-ups of a domain, or joins those that are running. */
  function gather(domain: string, deep: boolean): Gathering {
    const pending = deep ? gatherings.deep : gatherings.plain;
    const same = pending.get(domain);
    if (same !== undefined) return same;
    const sofar: Gathering["sofar"] = { mail: { state: "timeout" } };
    const allowance: QueryAllowance = { left: QUERIES_MAX - PREFERRED_QUERIES };
    const returned = deep ? Promise.withResolvers<void>() : null;
    const policy =
      returned === null ? null : policies.policyOf(domain, { allowance, returned: returned.promise });
    const routed = routing.routeOf(domain, {
      allowance,
      preferredAllowance: { left: PREFERRED_QUERIES },
      onHosts: (mail) => {
        sofar.mail = mail;
      },
      onReturned: returned?.resolve,
      before: policy,
    });
    const whole = keepWhole(domain, routed, policy, sofar);
    const gathering: Gathering = { whole, sofar };
    pending.set(domain, gathering);
    return gathering;
  }

  async function keepWhole(
    domain: string,
    routed: Promise<RoutingFinding>,
    deep: Promise<PolicyFinding> | null,
    sofar: Gathering["sofar"],
  ): Promise<KnownDomain> {
    const startEpoch = epoch();
    const kind = deep === null ? "plain" : "deep";
    const { mail, expiresAt } = await routed;
    sofar.mail = mail;
    const policy = deep === null ? null : await deep;
    const facts = factsFrom(domain, mail, policy?.policyFor(mail.state !== "no_domain"));
    const expiresAtMs = Math.min(expiresAt, policy?.expiresAt ?? expiresAt);
    const known = withJson(facts, { epoch: startEpoch, expiresAtMs });
    fresh.hold(known, facts);
    if (expiresAtMs > clock.monotonic()) keep(kind, domain, known);
    gatherings[kind].delete(domain);
    return known;
  }

  /** Returns the facts for a caller at its deadline, which are not cached. */
  function factsAtDeadline(domain: string, { deep }: FactsOptions, gathering: Gathering | null): KnownDomain {
    const mail = gathering?.sofar.mail ?? { state: "timeout" };
    const facts = factsFrom(domain, mail, deep ? POLICY_AT_DEADLINE : undefined);
    return withJson(facts, { epoch: epoch(), expiresAtMs: clock.monotonic() });
  }

  function factsFrom(domain: string, mail: MailRouting, policy?: MailPolicy): DomainFacts {
    const facts = { domain, mail, lists: lists.listsOf(domain, mail.state === "mx" ? mail.hosts : []) };
    return policy === undefined ? facts : { ...facts, policy };
  }

  return {
    knownDomain,
    findDomain,
    stats: () => ({
      ...counts,
      entries: Object.values(tables).reduce((sum, table) => sum + (table?.size ?? 0), 0),
    }),
  };
}

/** Waits for a promise that never rejects; null where the caller's deadline or signal comes first. */
function withinLimits<T>(work: Promise<T>, options: FactsOptions, limits: WaitLimits): Promise<T | null> {
  if (options.deadlineMs === undefined && options.signal === undefined) return work;
  return new Promise((resolve) => {
    const wait = limits.begin(options, () => resolve(null));
    void work.then((value) => {
      limits.ended(wait);
      resolve(value);
    });
  });
}
