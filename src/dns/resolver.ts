import { emptyLookup, type Lookup, type RecordType, type Resolver } from "./lookup.ts";
import { isEncodable } from "./name.ts";
import { QUERIES_PER_QUESTION, type QueryAllowance } from "./query-allowance.ts";
import { createQueryAttempts } from "./query-attempts.ts";
import { createQueryQueue } from "./query-queue.ts";
import { createQueryReaper } from "./query-reaper.ts";
import { endExchanges, exhausted, newQuestion, type Question } from "./question.ts";
import { createRandom16 } from "./random16.ts";
import { RESOLVER_DEFAULTS, type ResolverStats, type StubResolverDependencies } from "./resolver-options.ts";

export type StubResolver = Resolver & {
  readonly stats: () => ResolverStats;
  /** Received replies that wait for the main thread. */
  readonly unread: () => number;
  /** Ends every look-up as an `error` with the detail `closed`. */
  readonly close: () => void;
};

const LATE_PER_PLACE = 12;

/**
 * Creates a stub resolver: it queries recursive servers by UDP, and by TCP after a truncated reply.
 *
 * @example
 * const resolver = createStubResolver({ servers: systemServers(), clock: systemClock });
 * const { outcome, records } = await resolver.lookUp("example.com", "MX");
 */
export function createStubResolver(dependencies: StubResolverDependencies): StubResolver {
  const { clock, servers } = dependencies;
  const settings = { ...RESOLVER_DEFAULTS, ...dependencies };
  const counts = { lookups: 0, timeouts: 0, errors: 0 };
  const attempts = createQueryAttempts({
    addresses: servers,
    clock,
    random16: dependencies.random16 ?? createRandom16(),
    attemptTimeoutsMs: settings.attemptTimeoutsMs,
    serverPenaltyMs: settings.serverPenaltyMs,
    finish,
    onLate: (question) => queue.markLate(question),
  });
  const queue = createQueryQueue<Question>({
    inFlightMax: settings.inFlightMax,
    lateMax: settings.inFlightMax * LATE_PER_PLACE,
    waitingMax: settings.waitingMax,
    start,
  });
  const reaper = createQueryReaper(clock, reap);
  let closed = false;

  function lookUp<T extends RecordType>(
    name: string,
    type: T,
    allowance?: QueryAllowance,
  ): Promise<Lookup<T>> {
    counts.lookups++;
    const refusal = refuse(name);
    if (refusal !== null) {
      counts.errors++;
      return Promise.resolve(emptyLookup<T>("error", 0, refusal));
    }
    if (allowance !== undefined) allowance.left -= QUERIES_PER_QUESTION;
    return new Promise((resolve) => {
      const settle = resolve as (lookup: Lookup<RecordType>) => void;
      queue.enter(newQuestion(name, type, allowance ?? null, settle));
    });
  }

  function refuse(name: string): string | null {
    if (closed) return "closed";
    if (servers.length === 0) return "no_servers";
    if (!isEncodable(name)) return "unusable_name";
    return queue.isFull() ? "queue_full" : null;
  }

  function start(question: Question): void {
    question.deadline = clock.monotonic() + settings.lookupTimeoutMs;
    reaper.start();
    attempts.start(question);
  }

  function finish(question: Question, lookup: Lookup<RecordType>): void {
    endExchanges(question);
    if (lookup.outcome === "timeout") counts.timeouts++;
    if (lookup.outcome === "error") counts.errors++;
    if (question.allowance !== null) question.allowance.left += QUERIES_PER_QUESTION - question.queries;
    // The running check skips it.
    question.deadline = Number.POSITIVE_INFINITY;
    question.nextAttemptAt = Number.POSITIVE_INFINITY;
    question.settle(lookup);
    queue.leave(question);
  }

  /** Starts the attempts that are due, and ends questions past their deadline. */
  function reap(now: number): void {
    const underWay = queue.underWay();
    if (underWay.length === 0) reaper.stop();
    for (const question of underWay) {
      if (now >= question.deadline) finish(question, exhausted(question));
      else if (now >= question.nextAttemptAt) attempts.timedOut(question);
    }
  }

  function stats(): ResolverStats {
    return { ...counts, ...attempts.stats(), ...queue.counts() };
  }

  function close(): void {
    closed = true;
    for (const question of queue.clear()) {
      endExchanges(question);
      question.settle(emptyLookup("error", 0, "closed"));
    }
    reaper.stop();
    attempts.close();
  }

  return { lookUp, stats, unread: attempts.unread, close };
}
