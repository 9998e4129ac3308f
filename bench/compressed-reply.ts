import { connect } from "node:net";
import { startTestServer } from "../test/support/server.ts";
import { median } from "./result.ts";

/**
 * `bun bench/compressed-reply.ts`: the time to the first and to the last byte of a streamed batch, in each encoding
 * by turns, with a reader that takes at most 1 Gbit/s.
 */
const ADDRESSES = 100_000;
const ROUNDS = 7;
const READER_BYTES_PER_MS = 125_000;
/** Shorter waits than this cannot be kept. */
const PAUSE_MS_MIN = 2;
const ENCODINGS = ["identity", "gzip", "zstd"];

type Times = { readonly firstMs: number; readonly lastMs: number; readonly bytes: number };

await using server = await startTestServer();
const key = await server.signUp("scale");
const emails = Array.from(
  { length: ADDRESSES },
  (_, n) => `person.${(n * 7919) % 999_983}@d${n % 700}.many.com`,
);
const body = Buffer.from(JSON.stringify({ emails }));
const times = new Map<string, Times[]>(ENCODINGS.map((encoding) => [encoding, []]));
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const encoding of ENCODINGS) {
    const taken = await read(encoding);
    // The first round is for warming up.
    if (round > 0) times.get(encoding)?.push(taken);
  }
}
for (const [encoding, rounds] of times) {
  const lasts = rounds.map(({ lastMs }) => lastMs);
  const [first, last] = [median(rounds.map(({ firstMs }) => firstMs)), median(lasts)];
  const spread = `${Math.min(...lasts).toFixed(0)} to ${Math.max(...lasts).toFixed(0)}`;
  const megabytes = ((rounds[0]?.bytes ?? 0) / 1e6).toFixed(2);
  process.stdout.write(
    `${encoding}: first byte after ${first.toFixed(0)} ms, last after ${last.toFixed(0)} ms (${spread}), ${megabytes} MB\n`,
  );
}

async function read(encoding: string): Promise<Times> {
  const { promise, resolve, reject } = Promise.withResolvers<Times>();
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  const startedMs = performance.now();
  const passedMs = () => performance.now() - startedMs;
  let firstMs = 0;
  let bytes = 0;
  socket.on("error", reject);
  socket.on("data", (part: Uint8Array) => {
    if (firstMs === 0) firstMs = passedMs();
    bytes += part.byteLength;
    const aheadMs = bytes / READER_BYTES_PER_MS - (passedMs() - firstMs);
    if (aheadMs > PAUSE_MS_MIN) {
      socket.pause();
      setTimeout(() => socket.resume(), aheadMs);
    }
    if (Buffer.from(part).subarray(-5).toString("latin1") !== "0\r\n\r\n") return;
    socket.destroy();
    resolve({ firstMs, lastMs: passedMs(), bytes });
  });
  const head = [
    "POST /v1/email/batch HTTP/1.1",
    "Host: bench",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Accept-Encoding: ${encoding}`,
    `Content-Length: ${body.byteLength}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(body);
  return await promise;
}
