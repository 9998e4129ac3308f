import { createPatience } from "../platform/patience.ts";
import type { ByteReader, ByteSink } from "./byte-reader.ts";
import { createChunkDecoder } from "./chunk-decoder.ts";
import type { Deadline } from "./deadline.ts";
import { OutgoingError } from "./failure.ts";
import type { BodyFlow } from "./reply.ts";
import { type Framing, tooLarge } from "./response-body.ts";

export type BodyFlowOptions = {
  readonly reader: ByteReader;
  readonly framing: Framing;
  /** Bytes of the body; more is an error. */
  readonly bytesMax: number;
  /** The idle timeout while it is not paused. */
  readonly idleTimeoutMs: number;
  readonly deadline: Pick<Deadline, "signal" | "end">;
};

/**
 * Pushes the bytes of a body as they arrive, without a promise for each part, from the first `resume` on. The request ends
 * with the body.
 */
export function startBodyFlow(options: BodyFlowOptions, { part, end }: ByteSink): BodyFlow {
  const { reader, deadline, idleTimeoutMs } = options;
  const { signal } = deadline;
  let hasEnded = false;
  const finish = (error: OutgoingError | null): void => {
    if (hasEnded) return;
    hasEnded = true;
    patience.close();
    signal.removeEventListener("abort", stop);
    deadline.end();
    end(error);
  };
  const stop = () => finish(signal.reason as OutgoingError);
  const patience = createPatience(idleTimeoutMs, () =>
    finish(new OutgoingError("body_timeout", `nothing more came within ${idleTimeoutMs} ms`)),
  );
  const taken = (bytes: Uint8Array): void => {
    if (hasEnded) return;
    patience.begin();
    part(bytes);
  };
  let hasBegun = false;
  signal.addEventListener("abort", stop, { once: true });
  return {
    pause() {
      patience.end();
      if (!hasEnded) reader.pause();
    },
    resume() {
      if (signal.aborted) stop();
      if (hasEnded) return;
      patience.begin();
      if (hasBegun) reader.resume();
      else flowFramed(options, { part: taken, end: finish });
      hasBegun = true;
    },
  };
}

/** Removes the framing (RFC 9112, 6.3). A body that ends too early or too late is an error. */
function flowFramed({ reader, framing, bytesMax }: BodyFlowOptions, { part, end }: ByteSink): void {
  const decoder = framing.kind === "chunked" ? createChunkDecoder() : null;
  const length = framing.kind === "length" ? framing.bytes : Number.POSITIVE_INFINITY;
  let bytes = 0;
  let hasEnded = framing.kind === "none" || length === 0;
  if (hasEnded) {
    end(null);
    return;
  }
  const finish = (error: OutgoingError | null): void => {
    hasEnded = true;
    end(error);
  };
  const take = (chunk: Uint8Array): void => {
    const data = decoder === null ? chunk.subarray(0, length - bytes) : decoder.push(chunk);
    const left = bytesMax - bytes;
    bytes += data.length;
    if (data.length > 0 && left > 0) part(data.length > left ? data.subarray(0, left) : data);
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    if (decoder === null ? bytes === length : decoder.isDone()) finish(null);
  };
  reader.flow({
    part(chunk) {
      if (hasEnded) return;
      try {
        take(chunk);
      } catch (error) {
        if (!(error instanceof OutgoingError)) throw error;
        finish(error);
      }
    },
    end(error) {
      if (hasEnded) return;
      const isWhole = framing.kind === "until_close" && error === null;
      finish(
        isWhole ? null : (error ?? new OutgoingError("body_incomplete", "the connection ended too soon")),
      );
    },
  });
}
