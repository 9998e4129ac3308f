import { connect } from "node:net";
import type { Aim } from "../load/jobs.ts";

/** A batch as it is sent, and how its reply is read. */
export type Batch = {
  readonly path: string;
  readonly body: Uint8Array;
  /** `identity` for none. */
  readonly encoding: "identity" | "gzip" | "zstd";
  /** The reader takes no more than this. */
  readonly bytesPerMs: number;
};

/** From the call to the first byte of the body and to the last. */
export type Times = { readonly firstMs: number; readonly lastMs: number; readonly bytes: number };

/** Shorter waits than this cannot be kept. */
const PAUSE_MS_MIN = 2;
/** Between the head of a reply and its body. */
const HEAD_END = "\r\n\r\n";
/** The end of a chunked body. */
const END = "\r\n0\r\n\r\n";

/** Sends a batch on a socket of its own; a client library would take the time of the server that is measured. */
export async function sendBatch({ url, key }: Aim, batch: Batch): Promise<Times> {
  const { promise, resolve, reject } = Promise.withResolvers<Times>();
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const startedMs = performance.now();
  const passedMs = () => performance.now() - startedMs;
  let headMs = 0;
  let firstMs = 0;
  let head = "";
  let bytes = 0;
  let tail = "";
  socket.on("error", reject);
  socket.on("data", (part: Uint8Array) => {
    const text = Buffer.from(part);
    if (bytes === 0) {
      headMs = passedMs();
      if (text.toString("latin1", 0, 12) !== "HTTP/1.1 200")
        reject(new Error(`A reply that begins ${text.toString("latin1", 0, 400)}`));
    }
    if (firstMs === 0) {
      head += text.toString("latin1");
      const end = head.indexOf(HEAD_END);
      if (end !== -1 && head.length > end + HEAD_END.length) firstMs = passedMs();
    }
    bytes += part.byteLength;
    const aheadMs = bytes / batch.bytesPerMs - (passedMs() - headMs);
    if (aheadMs > PAUSE_MS_MIN) {
      socket.pause();
      setTimeout(() => socket.resume(), aheadMs);
    }
    tail = (tail + text.subarray(-END.length).toString("latin1")).slice(-END.length);
    if (tail !== END) return;
    socket.destroy();
    resolve({ firstMs, lastMs: passedMs(), bytes });
  });
  const request = [
    `POST ${batch.path} HTTP/1.1`,
    "Host: bench",
    `Authorization: Bearer ${key}`,
    "Content-Type: application/json",
    `Accept-Encoding: ${batch.encoding}`,
    `Content-Length: ${batch.body.byteLength}`,
  ];
  socket.write(`${request.join("\r\n")}${HEAD_END}`);
  socket.write(batch.body);
  return await promise;
}
