import { addressCorpus, coldAddress } from "../input.ts";
import { documentCorpus, phoneCorpus } from "../vector-input.ts";
import { type Connection, openConnection } from "./connection.ts";
import { createHistogram } from "./histogram.ts";
import { type Aim, CORPUS, type SinglesJob, type SinglesRound, type Traffic, urlsOf } from "./jobs.ts";

const REQUESTS_MAX = 2000;
/** How long the last replies of a round are waited for. */
const DRAIN_MS = 5000;
/** The first part of a round of sending without a pause is not counted. */
const WARMUP_SHARE = 0.15;

/** Measures one round of single calls at one server. `round` counts those of the job: each has cold names of its own. */
export async function singlesRound(job: SinglesJob, aim: Aim, round: number): Promise<SinglesRound> {
  const next = await requestSource(job.traffic, aim, round);
  const meter = createRoundMeter(job);
  await using wires = await openWires(job.connections, urlsOf(aim), next, meter);
  const busyBefore = process.cpuUsage();
  const beganAtMs = Date.now();
  const startedMs = performance.now();
  meter.open(startedMs);
  if (job.ratePerSecond === null) await sendWithoutPause(job, wires, meter, startedMs);
  else await sendOnSchedule({ ...job, ratePerSecond: job.ratePerSecond }, wires, startedMs);
  const sendingMs = performance.now() - startedMs;
  const endedAtMs = Date.now();
  const { user, system } = process.cpuUsage(busyBefore);
  const lost = await wires.drain(DRAIN_MS);
  const measured = meter.report(sendingMs, lost, (user + system) / 1000 / sendingMs);
  return { beganAtMs, endedAtMs, ...measured };
}

type RoundMeter = ReturnType<typeof createRoundMeter>;

function createRoundMeter({ ratePerSecond, roundMs }: SinglesJob) {
  const latency = createHistogram();
  const lateness = createHistogram();
  const countFromMs = ratePerSecond === null ? roundMs * WARMUP_SHARE : 0;
  let replies = 0;
  let right = 0;
  let wrong = 0;
  let openedMs = 0;
  let lastMs = 0;
  return {
    open: (nowMs: number) => {
      openedMs = nowMs + countFromMs;
      lastMs = openedMs;
    },
    sent: (dueMs: number, nowMs: number) => lateness.add(nowMs - dueMs),
    replied(status: number, dueMs: number, nowMs: number) {
      replies += 1;
      if (dueMs < openedMs) return;
      latency.add(nowMs - dueMs);
      lastMs = nowMs;
      if (status === 200) right += 1;
      else wrong += 1;
    },
    lost: (dueMs: number, nowMs: number) => latency.add(nowMs - dueMs),
    /** Whether a reply has been counted: without one there is no rate. */
    hasCounted: () => right + wrong > 0,
    report: (sendingMs: number, lost: number, driverBusy: number) => ({
      replies,
      perSecond: (right / Math.max(lastMs - openedMs, sendingMs - countFromMs)) * 1000,
      latency: latency.percentiles(),
      lateness: lateness.percentiles(),
      wrong,
      lost,
      driverBusy,
    }),
  };
}

type Wires = AsyncDisposable & {
  /** Sends on a free connection, or as soon as one is free. */
  readonly send: (dueMs: number) => void;
  /** What to do when a reply has come, instead of waiting for the schedule. */
  onFree: (() => void) | null;
  /** Waits for what is on its way. Returns how many replies never came. */
  readonly drain: (ms: number) => Promise<number>;
};

async function openWires(
  count: number,
  urls: readonly string[],
  next: () => Uint8Array,
  meter: RoundMeter,
): Promise<Wires> {
  const free: number[] = [];
  const waiting: number[] = [];
  let waitingFrom = 0;
  const dueOf = new Float64Array(count);
  let underWay = 0;
  const connections: Connection[] = [];
  const dispatch = (wire: number, dueMs: number) => {
    dueOf[wire] = dueMs;
    underWay += 1;
    connections[wire]?.send(next());
  };
  const wires: Wires = {
    onFree: null,
    send(dueMs) {
      const wire = free.pop();
      if (wire === undefined) {
        waiting.push(dueMs);
        return;
      }
      meter.sent(dueMs, performance.now());
      dispatch(wire, dueMs);
    },
    async drain(ms) {
      const endMs = performance.now() + ms;
      while ((underWay > 0 || waitingFrom < waiting.length) && performance.now() < endMs) await Bun.sleep(5);
      const nowMs = performance.now();
      for (const dueMs of waiting.slice(waitingFrom)) meter.lost(dueMs, nowMs);
      return underWay + waiting.length - waitingFrom;
    },
    async [Symbol.asyncDispose]() {
      for (const connection of connections) connection.close();
    },
  };
  for (let wire = 0; wire < count; wire += 1) {
    const onReply = (status: number) => {
      underWay -= 1;
      meter.replied(status, dueOf[wire] ?? 0, performance.now());
      const dueMs = waiting[waitingFrom];
      if (dueMs === undefined) {
        free.push(wire);
        wires.onFree?.();
        return;
      }
      waitingFrom += 1;
      dispatch(wire, dueMs);
    };
    const onLost = () => {
      throw new Error("The server closed a connection");
    };
    const url = urls[wire % urls.length] ?? "";
    connections.push(await openConnection(url, { onReply, onLost }));
    free.push(wire);
  }
  return wires;
}

/** A round is longer than it should be only where nothing was answered in it. */
async function sendWithoutPause(
  { connections, roundMs }: SinglesJob,
  wires: Wires,
  meter: RoundMeter,
  startedMs: number,
): Promise<void> {
  const endMs = startedMs + roundMs;
  const send = () => {
    const nowMs = performance.now();
    if (nowMs < endMs || !meter.hasCounted()) wires.send(nowMs);
  };
  wires.onFree = send;
  for (let wire = 0; wire < connections; wire += 1) send();
  await Bun.sleep(roundMs);
  while (!meter.hasCounted() && performance.now() < endMs + DRAIN_MS) await Bun.sleep(1);
  wires.onFree = null;
}

/** Every request has its moment, whether or not those before it were answered. */
async function sendOnSchedule(
  { ratePerSecond, roundMs, spin }: SinglesJob & { readonly ratePerSecond: number },
  wires: Wires,
  startedMs: number,
): Promise<void> {
  const stepMs = 1000 / ratePerSecond;
  const count = Math.max(1, Math.floor(roundMs / stepMs));
  const { promise, resolve } = Promise.withResolvers<void>();
  let sent = 0;
  const tick = () => {
    const nowMs = performance.now();
    while (sent < count && startedMs + sent * stepMs <= nowMs) {
      wires.send(startedMs + sent * stepMs);
      sent += 1;
    }
    if (sent === count) resolve();
    else if (spin) setImmediate(tick);
    else setTimeout(tick, Math.max(0, startedMs + sent * stepMs - performance.now()));
  };
  tick();
  await promise;
}

/** The single checks of warm traffic. */
export function warmPaths(): readonly string[] {
  return addressCorpus({ ...CORPUS, count: REQUESTS_MAX }).cases.map(({ text }) => emailPath(text));
}

/** Hands out requests without end; those of warm and mixed traffic are made before the clock starts. */
async function requestSource(traffic: Traffic, aim: Aim, round: number): Promise<() => Uint8Array> {
  const warm = warmPaths();
  let n = 0;
  const run = traffic.kind === "warm" ? "" : `${traffic.run}-${round}`;
  const cold = () => emailPath(coldAddress(run, n++));
  if (traffic.kind === "cold") return () => requestTo(aim, cold());
  const others = traffic.kind === "mixed" ? await otherPaths() : [];
  const made = warm.map((path, at) => requestTo(aim, at % 4 === 3 ? (others[at] ?? path) : path));
  let at = 0;
  return () => {
    at = (at + 1) % made.length;
    if (traffic.kind === "mixed" && at % 20 === 0) return requestTo(aim, cold());
    return made[at] ?? requestTo(aim, "/healthz");
  };
}

/** Documents and phone numbers, for the quarter of mixed traffic that is no address. */
async function otherPaths(): Promise<string[]> {
  const documents = await documentCorpus({ seed: CORPUS.seed, countPerType: REQUESTS_MAX / 8 });
  const phones = await phoneCorpus({ seed: CORPUS.seed, count: REQUESTS_MAX });
  return phones.map(({ text, country }, at) => {
    const one = documents[(at * 7919) % documents.length];
    if (at % 8 === 7 && one !== undefined) {
      return `/v1/identity/validate?type=${one.type}&value=${encodeURIComponent(one.value || "0")}`;
    }
    const query = country === null ? "" : `&country=${encodeURIComponent(country)}`;
    return `/v1/phone/validate?phone=${encodeURIComponent(text)}${query}`;
  });
}

function emailPath(address: string): string {
  return `/v1/email/verify?email=${encodeURIComponent(address)}`;
}

function requestTo({ url, key }: Aim, path: string): Uint8Array {
  const head = [`GET ${path} HTTP/1.1`, `Host: ${new URL(url).host}`, `Authorization: Bearer ${key}`];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n`);
}
