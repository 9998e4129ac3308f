import { INTERACTIVE_WEIGHT } from "../batch/fair-queue.ts";
import { nounOf } from "../contract/noun.ts";
import type { CheckResult } from "../contract/specification/service/service-replies.ts";
import type { Check } from "../http/routes/health.ts";
import type { Clock } from "../platform/clock.ts";
import type { Components, Queues } from "./components.ts";
import { directoryCheck } from "./directory-check.ts";
import { diskCheck, MEGABYTE } from "./disk-check.ts";
import type { Config } from "./settings.ts";
import { timedCheck } from "./timed-check.ts";

/** Any name does: what counts is that a server answers. */
const PROBED_NAME = "example.com";

/** The probe waits for a thread like any tenant. */
const PROBE_SHARE = { tenant: "health probe", weight: INTERACTIVE_WEIGHT };

/** Jobs begin within two seconds; far past that the threads are too few, or stuck. */
const QUEUE_WARN_S = 30;

/** Returns what /health does to find out whether each part works. */
export function checksOf(
  { dataDir, databaseUrl }: Pick<Config, "dataDir" | "databaseUrl">,
  clock: Clock,
  components: Components,
): { readonly [part: string]: Check } {
  const { store, billingClock, resolver, denialWatch, pool, directory, queues } = components;
  const timed = (work: () => unknown) => timedCheck(clock, work);
  return {
    database: {
      fallback: "fail",
      run: async () => {
        const doubt = billingClock.doubt();
        if (doubt !== null) {
          return { status: "fail", observed: doubt.daysAhead, unit: "days", output: doubt.sentence };
        }
        const daysBehind = billingClock.daysBehind();
        const probed = await timed(() => store.probe());
        if (daysBehind === 0) return probed;
        const output = `The clock stands ${daysBehind} ${nounOf(daysBehind, "day")} before the last time that was kept in the database.`;
        return { ...probed, status: "warn", output };
      },
    },
    dns: {
      fallback: "warn",
      run: async () => {
        const probed = await timed(async () => {
          const { outcome } = await resolver.lookUp(PROBED_NAME, "A");
          if (outcome === "timeout" || outcome === "error")
            throw new Error(`The look-up ended in ${outcome}`);
        });
        const trouble = denialWatch.trouble();
        return trouble === null ? probed : { ...probed, status: "warn", output: trouble };
      },
    },
    worker_pool: {
      fallback: "fail",
      run: (signal) => timed(() => pool.runTwice("ping", {}, { signal, share: PROBE_SHARE })),
    },
    directory: directoryCheck(directory),
    disk: diskCheck(dataDir, { holdsCharges: databaseUrl === null }),
    job_queue: { fallback: "warn", run: () => checkQueue(queues.jobTally) },
    store_space: { fallback: "warn", run: () => checkSpace(store, queues) },
  };
}

function checkQueue({ stats }: Queues["jobTally"]): CheckResult {
  const waitS = Math.round(stats().oldestWaitMs / 1_000);
  const result = { observed: waitS, unit: "s" } as const;
  if (waitS < QUEUE_WARN_S) return { ...result, status: "pass" };
  return { ...result, status: "warn", output: "Jobs wait for their turn longer than they should." };
}

async function checkSpace(store: Components["store"], queues: Queues): Promise<CheckResult> {
  const { usedBytes } = await store.space();
  const observed = Math.round(usedBytes / MEGABYTE);
  const unfinished = await queues.store.unfinishedJobs();
  const paused = unfinished.find(({ statusReason }) => statusReason === "storage");
  if (paused === undefined) return { status: "pass", observed, unit: "MB" };
  return {
    status: "warn",
    observed,
    unit: "MB",
    output: `Jobs that wait for room on the disk: ${paused.jobs}.`,
  };
}
