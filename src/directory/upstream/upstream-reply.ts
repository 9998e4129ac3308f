import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { type Deadline, UpstreamError, type UpstreamLimits } from "./upstream-limits.ts";

export type UpstreamReply = {
  readonly status: number;
  readonly headers: Headers;
  /** The body, inflated and within the limits; to be read once, or let go with `cancel`. */
  readonly body: AsyncGenerator<Uint8Array>;
  readonly cancel: () => void;
};

/** Reads the body as it is asked for, never past the limits. */
export function replyOf(response: Response, limits: UpstreamLimits, deadline: Deadline): UpstreamReply {
  const raw = limited(bodyParts(response, deadline), limits.rawBytesMax, "");
  const coding = (response.headers.get("content-encoding") ?? "identity").trim().toLowerCase();
  return {
    status: response.status,
    headers: response.headers,
    body: decoded(raw, coding, limits),
    cancel: () => {
      deadline.abort();
      response.body?.cancel().catch(() => {});
    },
  };
}

async function* decoded(
  raw: AsyncGenerator<Uint8Array>,
  coding: string,
  limits: UpstreamLimits,
): AsyncGenerator<Uint8Array> {
  if (coding === "identity" || coding === "") return yield* raw;
  if (coding !== "gzip" && coding !== "x-gzip") throw new UpstreamError(`unasked content coding ${coding}`);
  yield* limited(inflated(raw), limits.inflatedBytesMax, " inflated");
}

/** Inflates piece by piece: a piece of output is counted before the next one is made. */
async function* inflated(raw: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(Readable.from(raw), gunzip, () => {});
  try {
    for await (const part of gunzip) yield part as Uint8Array;
  } catch (error) {
    throw error instanceof UpstreamError ? error : new UpstreamError("broken gzip", { cause: error });
  } finally {
    gunzip.destroy();
  }
}

async function* limited(
  parts: AsyncGenerator<Uint8Array>,
  bytesMax: number,
  kind: string,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > bytesMax) throw new UpstreamError(`the body passes ${bytesMax} bytes${kind}`);
    yield part;
  }
}

async function* bodyParts(response: Response, deadline: Deadline): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await deadline.nextPart(reader.read());
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw error instanceof UpstreamError
      ? error
      : new UpstreamError("the body was cut off", { cause: error });
  } finally {
    reader.cancel().catch(() => {});
    deadline.abort();
  }
}
