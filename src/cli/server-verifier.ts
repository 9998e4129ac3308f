import { budgetOf } from "../billing/budget.ts";
import { type Client, createClient } from "../client/client.ts";
import { isObject } from "../platform/json-value.ts";
import type { Task } from "../tables/task.ts";
import { BLOCK_ROWS_MAX, type BlockResults, type ServerTarget, type Verifier } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import { cliError, foreignReply, hasKnownStatus, isResultOf, isUnitCount } from "./server-reply.ts";

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
    async verify(items, name) {
      const block = await verifyItems(client, task, items, name).catch((error: unknown) => {
        throw cliError(error, url, EXIT.stopped);
      });
      const isReadable = block.results.every((result) => hasKnownStatus(task, result));
      if (!isReadable || !isUnitCount(block.unitsCharged)) throw foreignReply(url, EXIT.stopped);
      return block;
    },
    refuseOtherEnd() {},
    [Symbol.asyncDispose]: async () => {},
  };
}

async function accountOn(url: string, apiKey: string, retriesMax: number) {
  const client = createClient({ baseUrl: url, apiKey, retriesMax });
  try {
    const account = await client.account();
    const { plans } = (await client.plans()) ?? {};
    if (!isAccount(account) || !Array.isArray(plans)) throw foreignReply(url, EXIT.badInput);
    return { account, plans };
  } catch (error) {
    throw cliError(error, url, EXIT.badInput);
  }
}

function isAccount(reply: unknown): boolean {
  if (!isObject(reply) || !isObject(reply.limits) || !isObject(reply.usage)) return false;
  return typeof reply.limits.max_batch_size === "number";
}

async function verifyItems(
  client: Client,
  task: Task,
  items: readonly string[],
  idempotencyKey: string,
): Promise<BlockResults> {
  const batch = await batchOf(client, task, items, idempotencyKey);
  const reply: unknown = batch;
  const given = isObject(reply) && isObject(reply.summary) ? reply.results : null;
  const isTheirs =
    Array.isArray(given) &&
    given.length === items.length &&
    items.every((item, at) => isResultOf(task, item, given[at]));
  if (!isTheirs) throw new CliError("The server answered with results of other items.", EXIT.stopped);
  return { results: batch.results, unitsCharged: batch.summary.units_charged };
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
