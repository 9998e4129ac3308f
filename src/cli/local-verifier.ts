import { openBatches } from "../app/batches.ts";
import { openLookups } from "../app/lookups.ts";
import type { Platform } from "../app/platform.ts";
import type { Config } from "../app/settings.ts";
import { INTERACTIVE_WEIGHT, type Share } from "../batch/fair-queue.ts";
import type { BatchRunner, VerifyOptions } from "../batch/runner.ts";
import type { Result, Task } from "../tables/task.ts";
import { BLOCK_ROWS_MAX, type Verifier } from "./block-verifier.ts";

/** The dependencies of a local check: neither a database nor a port. */
export type VerifierDependencies = Pick<Platform, "clock" | "workerFiles">;

/** Nobody shares the threads of a command. */
const SHARE: Share = { tenant: "command", weight: INTERACTIVE_WEIGHT };

/** Checks items in this process: own look-ups, own worker threads, nothing metered. */
export function createLocalVerifier(
  task: Task,
  config: Config,
  dependencies: VerifierDependencies,
): Verifier {
  const stack = new AsyncDisposableStack();
  const { domainFacts, denialWatch } = openLookups(config.dns, dependencies, stack);
  if (task.kind === "email" && task.dns) denialWatch.start();
  const { runner } = openBatches(config, dependencies, domainFacts, stack);
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  return {
    blockRowsMax: BLOCK_ROWS_MAX,
    blocksInFlight: config.batch.workerThreads * 2 + 1,
    budget: null,
    async trouble() {
      await denialWatch.checked();
      return denialWatch.trouble();
    },
    verify: async (items) => ({
      results: await verifyItems(runner, task, items, stop.signal),
      unitsCharged: 0,
    }),
    refuseOtherEnd() {},
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function verifyItems(
  runner: BatchRunner,
  task: Task,
  items: readonly string[],
  signal: AbortSignal,
): Promise<readonly Result[]> {
  const body = new TextEncoder().encode(JSON.stringify(batchBody(task, items)));
  const batch = await runner.startChunking(
    { kind: task.kind, form: "json", body, itemsMax: items.length },
    SHARE,
  );
  if (!batch.ok) throw new Error(`a block of items was refused: ${batch.message}`);
  const texts: string[] = [];
  for await (const { bytes } of runner.verify(batch, optionsOf(task), signal)) {
    texts.push(new TextDecoder().decode(bytes));
  }
  return JSON.parse(`[${texts.join(",")}]`);
}

function optionsOf(task: Task): VerifyOptions {
  return {
    deep: task.kind === "email" && task.deep,
    dns: task.kind === "email" && task.dns,
    country: task.kind === "phone" ? task.country : null,
    separator: ",",
    share: SHARE,
  };
}

/** The body of a batch of these items, as the API takes it. */
function batchBody(task: Task, items: readonly string[]): object {
  switch (task.kind) {
    case "email":
      return { emails: items };
    case "phone":
      return { phones: items };
    case "identity":
      return { items: items.map((value) => (task.type === null ? { value } : { type: task.type, value })) };
  }
}
