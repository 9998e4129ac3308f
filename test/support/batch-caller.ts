import { callerOf } from "./caller.ts";
import { callUntilStopped } from "./until-stopped.ts";

// Sends batches of a key's whole plan, two at a time, until it is ended, in a process of its own so that reading them
// does not slow its measurer down. Arguments: address, key. Says how many units it was charged when it is stopped by a
// line on standard input.

const ITEMS = 100_000;
const AT_ONCE = 2;
/** The end of a reply has its summary. */
const TAIL_BYTES = 200;

const [url = "", key = ""] = process.argv.slice(2);
const { call } = callerOf(url);
const body = JSON.stringify({
  emails: Array.from({ length: ITEMS }, (_, at) => `a${at}@d${at % 500}.many.com`),
});
let units = 0;

async function tailOf(reply: Response): Promise<string> {
  let tail = Buffer.alloc(0);
  for await (const part of reply.body ?? []) {
    tail = Buffer.concat([tail, part.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
  }
  return tail.toString();
}

async function callOn(isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const tail = await tailOf(await call("/v1/email/batch", { key, body }));
    units += Number(/"units_charged":(\d+)\}\}$/.exec(tail)?.[1]);
  }
}

await callUntilStopped(AT_ONCE, callOn, () => ({ units }));
