import { type Client, createClient } from "../client/client.ts";
import { RefusedError, UnreachableError } from "../client/failure.ts";
import type { Judge, Judged, ServerWish } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import type { Task } from "./task.ts";

const BLOCK_ROWS_MAX = 500;
const BLOCKS_IN_FLIGHT = 4;

/** Checks items on a server. Throws CliError at once where the server or the key is not right. */
export async function createJudgeThere(
  task: Task,
  { url, apiKey, retriesMax }: ServerWish & { readonly apiKey: string },
): Promise<Judge> {
  const { limits } = await createClient({ baseUrl: url, apiKey, retriesMax: Math.min(1, retriesMax) })
    .account()
    .catch((error: unknown) => {
      throw cliError(error, url, EXIT.badInput);
    });
  const client = createClient({ baseUrl: url, apiKey, retriesMax });
  return {
    blockRowsMax: Math.min(BLOCK_ROWS_MAX, limits.max_batch_size),
    blocksInFlight: BLOCKS_IN_FLIGHT,
    judge: (items, name) =>
      judgeItems(client, task, items, name).catch((error: unknown) => {
        throw cliError(error, url, EXIT.stopped);
      }),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function judgeItems(
  client: Client,
  task: Task,
  items: readonly string[],
  idempotencyKey: string,
): Promise<Judged> {
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

function cliError(error: unknown, url: string, exitCode: number): unknown {
  if (error instanceof UnreachableError) return new CliError(`${url} does not answer.`, exitCode);
  if (error instanceof RefusedError) {
    return new CliError(`${url} refused (${error.status} ${error.code}): ${error.message}`, exitCode);
  }
  return error;
}
