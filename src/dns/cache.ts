import { LRUCache } from "lru-cache";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS } from "../platform/days.ts";
import { madeOnce } from "../platform/made-once.ts";
import { emptyLookup, isDenial, type Lookup, type RecordType, type Resolver } from "./lookup.ts";
import { NOT_ALLOWED, QUERIES_PER_QUESTION, type QueryAllowance } from "./query-allowance.ts";

/** A cached look-up, with its expiry on `Clock.monotonic`. */
export type CachedLookup<T extends RecordType> = Lookup<T> & { readonly expiresAt: number };

export type DnsCache = {
  /**
   * Answers from the cache, joins the running look-up for the same name and type, or starts one. Never rejects. A caller
   * that stops waiting does not end the look-up. With a spent allowance no look-up is started: the outcome is an `error`
   * with the detail `not_allowed`, which depends on nothing else and never expires.
   */
  readonly lookUp: <T extends RecordType>(
    name: string,
    type: T,
    allowance?: QueryAllowance,
  ) => Promise<CachedLookup<T>>;
  readonly stats: () => CacheStats;
};

export type CacheStats = {
  readonly hits: number;
  readonly misses: number;
  /** Look-ups that joined a running one. */
  readonly joined: number;
  readonly entries: number;
};

export type DnsCacheDependencies = {
  readonly resolver: Resolver;
  readonly clock: Clock;
  readonly entriesMax?: number;
  /** A denial of another epoch is invalid. */
  readonly epoch?: () => number;
};

const ENTRIES_MAX = 100_000;
/** Bytes of a usual entry. They bound all entries together, as one TXT answer can have 64 KB. */
const BYTES_PER_ENTRY = 400;
/** Bytes of an entry beside its texts. */
const BYTES_BESIDE_TEXTS = 250;
/** Bytes of a record without text, and of a string. */
const BYTES_PER_RECORD = 40;

const POSITIVE_FLOOR_MS = 60_000;
const POSITIVE_CAP_MS = DAY_MS;
const NEGATIVE_CAP_MS = 3 * 3_600_000;
/** The TTL of a failure, which doubles with each repetition (RFC 9520, 3.2). */
export const FAILURE_FLOOR_MS = 5_000;
export const FAILURE_CAP_MS = 30_000;
/** Failures of this process, not of the DNS, which are not cached. */
const LOCAL_FAILURES: ReadonlySet<string> = new Set(["queue_full", "closed", "no_servers"]);

type Entry = CachedLookup<RecordType> & {
  readonly failureMs: number;
  /** The epoch of a denial; null where the entry is valid in every epoch. */
  readonly denialEpoch: number | null;
  /** Resolves to the entry; created with its first hit, for all of them. */
  answer?: Promise<Entry>;
};

const NOT_ASKED: Entry = {
  ...emptyLookup<RecordType>("error", 0, NOT_ALLOWED),
  expiresAt: Number.POSITIVE_INFINITY,
  failureMs: 0,
  denialEpoch: null,
};

/**
 * An LRU cache in front of a resolver: positive answers for their TTL (60 s to 24 h), negative ones for that of their SOA
 * (RFC 2308, at most 3 h), failures for 5 to 30 s.
 */
export function createDnsCache({
  resolver,
  clock,
  entriesMax = ENTRIES_MAX,
  epoch = () => 0,
}: DnsCacheDependencies): DnsCache {
  const entries = madeOnce(
    () =>
      new LRUCache<string, Entry>({
        max: entriesMax,
        maxSize: entriesMax * BYTES_PER_ENTRY,
        sizeCalculation: bytesOf,
      }),
  );
  const inFlight = new Map<string, Promise<Entry>>();
  const counts = { hits: 0, misses: 0, joined: 0 };

  /** Short enough for the compiler to take it into its callers. */
  function lookUp(name: string, type: RecordType, allowance?: QueryAllowance): Promise<Entry> {
    const key = `${type} ${name}`;
    const known = entries.known()?.get(key);
    if (known === undefined || !isValid(known)) return lookUpAnew(key, name, type, allowance);
    counts.hits++;
    known.answer ??= Promise.resolve(known);
    return known.answer;
  }

  const isValid = ({ expiresAt, denialEpoch }: Entry): boolean =>
    clock.monotonic() <= expiresAt && (denialEpoch === null || denialEpoch === epoch());

  function lookUpAnew(
    key: string,
    name: string,
    type: RecordType,
    allowance?: QueryAllowance,
  ): Promise<Entry> {
    const sameLookup = inFlight.get(key);
    if (sameLookup !== undefined) {
      counts.joined++;
      return sameLookup;
    }
    if (allowance !== undefined && allowance.left < QUERIES_PER_QUESTION) return Promise.resolve(NOT_ASKED);
    counts.misses++;
    const startEpoch = epoch();
    const work = resolver.lookUp(name, type, allowance).then((lookup) => keep(key, lookup, startEpoch));
    inFlight.set(key, work);
    return work;
  }

  function keep(key: string, lookup: Lookup<RecordType>, startEpoch: number): Entry {
    inFlight.delete(key);
    // An expired failure stays in the cache, so that the TTL of the next one doubles.
    const lastFailureMs = entries.get().peek(key)?.failureMs ?? 0;
    const ttlMs = ttlMsOf(lookup, lastFailureMs);
    const failed = lookup.outcome === "timeout" || lookup.outcome === "error";
    const entry: Entry = {
      ...lookup,
      expiresAt: clock.monotonic() + ttlMs,
      failureMs: failed ? ttlMs : 0,
      denialEpoch: isDenial(lookup) ? startEpoch : null,
    };
    if (ttlMs > 0) entries.get().set(key, entry);
    return entry;
  }

  return {
    // The type of the record is part of the key, so an entry holds records of the type asked for.
    lookUp: lookUp as DnsCache["lookUp"],
    stats: () => ({ ...counts, entries: entries.known()?.size ?? 0 }),
  };
}

function ttlMsOf(lookup: Lookup<RecordType>, lastFailureMs: number): number {
  const ttlMs = lookup.ttlSeconds * 1000;
  switch (lookup.outcome) {
    case "answer":
      return clamp(ttlMs, POSITIVE_FLOOR_MS, POSITIVE_CAP_MS);
    case "nodata":
    case "nxdomain":
      return clamp(ttlMs, FAILURE_FLOOR_MS, NEGATIVE_CAP_MS);
    case "timeout":
    case "error":
      if (lookup.detail !== null && LOCAL_FAILURES.has(lookup.detail)) return 0;
      return clamp(lastFailureMs * 2, FAILURE_FLOOR_MS, FAILURE_CAP_MS);
  }
}

function clamp(value: number, floor: number, cap: number): number {
  return Math.min(Math.max(value, floor), cap);
}

function bytesOf(entry: Entry, key: string): number {
  let bytes = BYTES_BESIDE_TEXTS + key.length;
  for (const record of entry.records) {
    bytes += BYTES_PER_RECORD + (typeof record === "string" ? record.length : record.exchange.length);
  }
  return bytes;
}
