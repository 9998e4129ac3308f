import { callerOf, quantile } from "./caller.ts";
import type { VictimReport } from "./tenants.ts";

/**
 * Makes single checks of known and new domains, and batches of 1,000 under an Idempotency-Key, one after the other for
 * one account, whenever it is sent a message; sends back the p99 of each and how often each status was the answer.
 * Arguments: address, key.
 */

const SINGLES = 60;
const BATCHES = 6;
const BATCH_ITEMS = 1000;

const [url = "", key = ""] = process.argv.slice(2);
const { call } = callerOf(url);

async function timed(
  statuses: { [status: string]: number },
  path: string,
  batch: { readonly body?: object } = {},
): Promise<number> {
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  const startedMs = performance.now();
  const reply = await call(path, batch.body === undefined ? { key } : { key, headers, ...batch });
  await reply.arrayBuffer();
  statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
  return performance.now() - startedMs;
}

async function measure(): Promise<VictimReport> {
  const mark = crypto.randomUUID().slice(0, 8);
  const statuses: { [status: string]: number } = {};
  const singles: number[] = [];
  const batches: number[] = [];
  for (let round = 0; round < SINGLES; round += 1) {
    const domain = round % 2 === 0 ? "good.com" : `s${round}${mark}.many.com`;
    singles.push(await timed(statuses, `/v1/email/verify?email=one%40${domain}`));
    if (round % (SINGLES / BATCHES) > 0) continue;
    const emails = Array.from(
      { length: BATCH_ITEMS },
      (_, at) => `a${at}@d${at % 5}${mark}${round}.many.com`,
    );
    batches.push(await timed(statuses, "/v1/email/batch", { body: { emails } }));
  }
  return { singlesP99Ms: quantile(singles, 0.99), batchesP99Ms: quantile(batches, 0.99), statuses };
}

process.on("message", async () => process.send?.(await measure()));
