import { addressCorpus, coldAddress } from "../input.ts";
import { createHistogram } from "./histogram.ts";
import { type Aim, type BatchesJob, type BatchesRound, CORPUS, urlsOf } from "./jobs.ts";

/** A cold batch asks for one new domain for this many addresses. */
const COLD_ADDRESSES_PER_DOMAIN = 20;

export type BatchSender = (aim: Aim, round: number) => Promise<BatchesRound>;

/** Prepares the bodies of a job, and returns what measures one round: callers that send one batch after the other. */
export function createBatchSender(job: BatchesJob): BatchSender {
  const bodyFor = createBodies(job);
  return async (aim, round) => {
    const urls = urlsOf(aim);
    const latency = createHistogram();
    const firstByte = createHistogram();
    const sum = { batches: 0, bytes: 0 };
    const startedMs = performance.now();
    const caller = async (which: number) => {
      const own = { url: urls[which % urls.length] ?? aim.url, key: aim.key };
      do {
        const body = bodyFor(`${round}-${which}-${sum.batches}`);
        const sentMs = performance.now();
        const { bytes, firstByteMs } = await sendBatch(own, body, job.size);
        latency.add(performance.now() - sentMs);
        firstByte.add(firstByteMs - sentMs);
        sum.batches += 1;
        sum.bytes += bytes;
      } while (performance.now() - startedMs < job.roundMs);
    };
    await Promise.all(Array.from({ length: job.parallel }, (_, which) => caller(which)));
    const seconds = (performance.now() - startedMs) / 1000;
    return {
      addressesPerSecond: (sum.batches * job.size) / seconds,
      batches: sum.batches,
      latency: latency.percentiles(),
      firstByte: firstByte.percentiles(),
      bytesPerBatch: sum.bytes / sum.batches,
    };
  };
}

async function sendBatch({ url, key }: Aim, body: Uint8Array<ArrayBuffer>, size: number) {
  const reply = await fetch(`${url}/v1/email/batch`, {
    method: "POST",
    // `fetch` asks for every coding by itself: what compression costs is measured apart.
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${key}`,
      "Accept-Encoding": "identity",
    },
    body,
  });
  if (reply.status !== 200 || reply.body === null) throw new Error(`${reply.status} ${await reply.text()}`);
  let bytes = 0;
  let firstByteMs = 0;
  let tail = "";
  for await (const part of reply.body) {
    if (bytes === 0) firstByteMs = performance.now();
    bytes += part.length;
    tail = (tail + Buffer.from(part.subarray(-200)).toString("latin1")).slice(-200);
  }
  requireSummary(tail, size);
  return { bytes, firstByteMs };
}

/** The summary stands at the end of a reply that is whole, and counts every address once. */
function requireSummary(tail: string, size: number): void {
  const summary = /"summary":(\{[^}]*\})\}$/.exec(tail)?.[1];
  if (summary === undefined) throw new Error(`A reply that ends in ${tail}`);
  const { deliverable = 0, risky = 0, undeliverable = 0, unknown = 0 } = JSON.parse(summary);
  const counted = deliverable + risky + undeliverable + unknown;
  if (counted !== size || unknown > 0) throw new Error(`A summary of ${size} addresses: ${summary}`);
}

function createBodies({ size, cold }: BatchesJob): (name: string) => Uint8Array<ArrayBuffer> {
  if (cold !== null) return (name) => bodyOf(coldBatch(`${cold}-${name}`, size));
  // The corpus begins the same whatever its length.
  const { cases } = addressCorpus({ ...CORPUS, count: size });
  const body = bodyOf(cases.map(({ text }) => text));
  return () => body;
}

function coldBatch(run: string, size: number): string[] {
  return Array.from({ length: size }, (_, n) => {
    const address = coldAddress(run, Math.floor(n / COLD_ADDRESSES_PER_DOMAIN));
    return `p${n % COLD_ADDRESSES_PER_DOMAIN}.${address}`;
  });
}

function bodyOf(emails: readonly string[]): Uint8Array<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ emails }));
}
