import dns from "node:dns";
import { type AddressCase, addressCorpus } from "../input.ts";
import { CORPUS } from "../load/jobs.ts";
import { drive } from "../load/processes.ts";
import type { BenchServer } from "../load/server-process.ts";
import { type Figure, judgeTarget, median, overRounds, type TargetOutcome } from "../result.ts";
import { type EmailPeer, emailPeers } from "./email-peers.ts";

const ADDRESSES = 20_000;
/** Checks under way at a time; each peer is shown at the number that suits it best. */
const IN_FLIGHT = [1, 64] as const;
/** Addresses that nobody who looks at them closely can be of two minds about. */
const PLAIN = new Set(["accepts_mail", "domain_not_found"]);

type Round = { readonly perSecond: number; readonly right: number };

/** Our batches over HTTP and the peers in this process, by turns, on one corpus and one DNS server. */
export async function measureEmail(
  server: BenchServer,
  dnsAddress: string,
  scale: number,
): Promise<{ figures: Figure[]; targets: TargetOutcome[] }> {
  dns.setServers([dnsAddress]);
  const corpus = addressCorpus({ ...CORPUS, count: ADDRESSES });
  for (const peer of emailPeers) await proveUsable(peer, corpus.cases.slice(0, 2000 * scale));
  const cases = corpus.cases.slice(0, ADDRESSES * scale * scale);
  const leadInMs = LEAD_IN_MS * scale;
  await oursRound(server, 3000 * scale);
  const ours: number[] = [];
  const found = new Map<string, Round[]>();
  for (let round = 0; round < Math.max(1, Math.round(6 * scale)); round += 1) {
    await quiet();
    await oursRound(server, leadInMs);
    ours.push(await oursRound(server, 1500 * scale));
    for (const peer of emailPeers) {
      for (const inFlight of IN_FLIGHT) {
        const key = `${peer.name}, ${inFlight} in flight`;
        await peerRound(peer, cases, inFlight, leadInMs);
        found.set(key, [...(found.get(key) ?? []), await peerRound(peer, cases, inFlight, 1200 * scale)]);
      }
    }
  }
  return findings(ours, found, cases.length);
}

/** Before each round, unmeasured: all are compared warm, and one that had to wait for the others is not. */
const LEAD_IN_MS = 500;
const QUIET_WINDOW_MS = 250;
const QUIET_DEADLINE_MS = 5000;
/** Of one core. */
const QUIET_SHARE_MAX = 0.05;

/** Peers leave timers and garbage behind, which would take their time from the server: waits until they are gone. */
async function quiet(): Promise<void> {
  const startedMs = performance.now();
  do {
    const before = process.cpuUsage();
    await Bun.sleep(QUIET_WINDOW_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 <= QUIET_WINDOW_MS * QUIET_SHARE_MAX) return;
  } while (performance.now() - startedMs < QUIET_DEADLINE_MS);
}

async function oursRound(server: BenchServer, roundMs: number): Promise<number> {
  const once = { kind: "batches", size: 100_000, parallel: 1, rounds: 1, cold: null } as const;
  const { aims } = await drive({ ...once, aims: [server], roundMs });
  return median((aims[0] ?? []).map((round) => round.addressesPerSecond));
}

/** What a peer gets wrong where all must agree makes its speed worthless. */
async function proveUsable(peer: EmailPeer, cases: readonly AddressCase[]): Promise<void> {
  for (const { text, status, subStatus } of cases) {
    if (!PLAIN.has(subStatus) || (!peer.usesDns && status === "undeliverable")) continue;
    const isGood = await peer.isGood(text);
    if (isGood !== (status === "deliverable")) throw new Error(`${peer.name} says ${isGood} of ${text}`);
  }
}

async function peerRound(
  peer: EmailPeer,
  cases: readonly AddressCase[],
  inFlight: number,
  roundMs: number,
): Promise<Round> {
  let next = 0;
  let right = 0;
  const startedMs = performance.now();
  const caller = async () => {
    while (next < cases.length || performance.now() - startedMs < roundMs) {
      const one = cases[next++ % cases.length];
      if (one === undefined) return;
      const isGood = await peer.isGood(one.text);
      if (isGood === (one.status === "deliverable")) right += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return { perSecond: (next / (performance.now() - startedMs)) * 1000, right: right / next };
}

function findings(oursRounds: readonly number[], found: Map<string, Round[]>, addresses: number) {
  const ours = median(oursRounds);
  const group = `email addresses, warm, a corpus of ${addresses.toLocaleString("en")}`;
  const figures: Figure[] = [
    {
      name: "Assay: batches of 100,000 over HTTP, metered",
      group,
      unit: "addresses/s",
      better: "higher",
      ...overRounds(oursRounds),
    },
  ];
  const best = { name: "", perSecond: 0 };
  for (const peer of emailPeers) {
    const settings = IN_FLIGHT.map((inFlight) => {
      const rounds = found.get(`${peer.name}, ${inFlight} in flight`) ?? [];
      const right = median(rounds.map((round) => round.right));
      const perSeconds = rounds.map((round) => round.perSecond);
      return { inFlight, right, perSeconds, perSecond: median(perSeconds) };
    });
    const fastest = settings.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
    const share = `${Math.round(fastest.right * 100)} % as expected`;
    figures.push({
      name: `${peer.name} (in process, ${share})`,
      group,
      unit: "addresses/s",
      better: "neither",
      ...overRounds(fastest.perSeconds),
      at: { inFlight: fastest.inFlight, usesDns: peer.usesDns ? 1 : 0, right: fastest.right },
    });
    if (peer.usesDns && fastest.perSecond > best.perSecond) {
      Object.assign(best, { name: peer.name, perSecond: fastest.perSecond });
    }
  }
  const target = judgeTarget({
    what: "batch of 100,000, warm cache, over HTTP, metered",
    against: "the fastest peer that does DNS, in process, warm",
    bound: { atLeast: 9 },
    measured: ours / best.perSecond,
    note: `${Math.round(ours).toLocaleString("en")} against ${Math.round(best.perSecond).toLocaleString("en")} a second (${best.name})`,
  });
  return { figures, targets: [target] };
}
