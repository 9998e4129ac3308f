import { expect, test } from "bun:test";
import { join } from "node:path";
import { openConnection } from "../../bench/load/connection.ts";
import { listedResource } from "../support/check-server-process.ts";

/** How much of what a server can answer at all the judging check answers. */

/** `CHECK_LISTINGS=80000` for a whole directory. */
const LISTINGS = Number(process.env.CHECK_LISTINGS ?? 4000);
/** What is left to the judgement itself of the time of a call. */
const SHARE_MIN = Number(process.env.CHECK_SHARE_MIN ?? 0.8);
const ROUNDS = 6;
const ROUND_MS = 250;
/** What else the machine does takes from either side for a while. */
const TRIES = 3;
const CONNECTIONS = 16;
/** A prime: it leads to every listing, out of order. */
const STRIDE = 7919;
const PROCESS = join(import.meta.dir, "../support/check-server-process.ts");

const requestOf = (path: string): Uint8Array =>
  new TextEncoder().encode(`GET ${path} HTTP/1.1\r\nHost: check.example\r\n\r\n`);

/** Sends request after request on each connection while there is one; returns how many were answered with 200. */
async function send(url: string, next: () => Uint8Array | null): Promise<number> {
  let answered = 0;
  const one = async (): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    const step = () => {
      const request = next();
      if (request === null) ended.resolve();
      else connection.send(request);
    };
    const connection = await openConnection(url, {
      onReply: (status) => {
        if (status === 200) answered += 1;
        step();
      },
      onLost: () => ended.reject(new Error("a connection was lost")),
    });
    step();
    await ended.promise;
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  return answered;
}

async function callsASecond(url: string, next: () => Uint8Array): Promise<number> {
  const startedMs = performance.now();
  const answered = await send(url, () => (performance.now() - startedMs < ROUND_MS ? next() : null));
  return (answered / (performance.now() - startedMs)) * 1000;
}

test(`of ${LISTINGS} listings each is judged from memory at ${SHARE_MIN} of a constant's calls a second`, async () => {
  const server = Bun.spawn(["bun", PROCESS, `${LISTINGS}`], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const { value } = await server.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    const checks = Array.from({ length: LISTINGS }, (_, n) =>
      requestOf(`/v1/check?resource=${encodeURIComponent(listedResource(n))}`),
    );
    let asked = 0;
    const startedMs = performance.now();
    expect(await send(url, () => checks[asked++] ?? null)).toBe(LISTINGS);
    const first = Math.round((LISTINGS / (performance.now() - startedMs)) * 1000);
    const bare = requestOf("/bare");
    const measure = async () => {
      const total = { bare: 0, check: 0 };
      // By turns, so that a busy moment of the machine hits both alike.
      for (let round = 0; round < ROUNDS; round++) {
        total.bare += await callsASecond(url, () => bare);
        total.check += await callsASecond(url, () => {
          asked += STRIDE;
          return checks[asked % LISTINGS] ?? bare;
        });
      }
      const share = total.check / total.bare;
      const written = `${Math.round(total.check / ROUNDS)} calls/s of ${Math.round(total.bare / ROUNDS)} bare`;
      console.log(`check: ${LISTINGS} listings, ${written}: ${share.toFixed(2)}; judged first at ${first}/s`);
      return share;
    };
    let share = await measure();
    for (let tries = 1; share < SHARE_MIN && tries < TRIES; tries++) share = await measure();
    expect(share).toBeGreaterThanOrEqual(SHARE_MIN);
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}, 120_000);
