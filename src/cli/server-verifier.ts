import { type Client, createClient } from "../client/client.ts";
import { RefusedError, UnreachableError } from "../client/failure.ts";
import type { Task } from "../tables/task.ts";
import { BLOCK_ROWS_MAX, type BlockResults, type ServerTarget, type Verifier } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import { budgetOf } from "./run-cost.ts";

const BLOCKS_IN_FLIGHT = 4;

/** Checks items on a server. Throws CliError at once where the server or the key is not right. */
export async function createServerVerifier(
  task: Task,
  { url, apiKey, retriesMax }: ServerTarget & { readonly apiKey: string },
): Promise<Verifier> {
  const { account, plans } = await accountOn(url, apiKey, Math.min(1, retriesMax));
  const client = createClient({ baseUrl: url, apiKey, retriesMax });
  return {
    blockRowsMax: Math.min(BLOCK_ROWS_MAX, account.limits.max_batch_size),
    blocksInFlight: BLOCKS_IN_FLIGHT,
    budget: budgetOf(account, plans),
    trouble: async () => null,
    verify: (items, name) =>
      verifyItems(client, task, items, name).catch((error: unknown) => {
        throw cliError(error, url, EXIT.stopped);
      }),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function accountOn(url: string, apiKey: string, retriesMax: number) {
  const client = createClient({ baseUrl: url, apiKey, retriesMax });
  try {
    const account = await client.account();
    return { account, plans: (await client.plans()).plans };
  } catch (error) {
    throw cliError(error, url, EXIT.badInput);
  }
}

async function verifyItems(
  client: Client,
  task: Task,
  items: readonly string[],
  idempotencyKey: string,
): Promise<BlockResults> {
  const { results, summary } = await batchOf(client, task, items, idempotencyKey);
  if (results.length !== items.length)
    throw new CliError("The server answered another number of items.", EXIT.stopped);
  return { results, unitsCharged: summary.units_charged };
}

function batchOf(client: Client, task: Task, items: readonly string[], idempotencyKey: string) {
  switch (task.kind) {
    case "email":
      return client.verifyEmails(items, { idempotencyKey, deep: task.deep, dns: task.dns });
    case "phone":
      return client.validatePhones(items, {
        idempotencyKey,
        ...(task.country === null ? {} : { country: task.country }),
      });
    case "identity": {
      const { type } = task;
      const documents = items.map((value) => (type === null ? { value } : { type, value }));
      return client.validateDocuments(documents, { idempotencyKey });
    }
  }
}

/** Returns what a server refuses, or that it does not answer, as the user reads it. */
export function cliError(error: unknown, url: string, exitCode: number): unknown {
  if (error instanceof UnreachableError) return new CliError(`${url} does not answer.`, exitCode);
  if (error instanceof RefusedError) {
    return new CliError(`${url} refused (${error.status} ${error.code}): ${error.message}`, exitCode);
  }
  return error;
}
