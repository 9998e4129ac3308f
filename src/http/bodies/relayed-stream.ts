import type { ByteSource } from "../../payments/paid-call.ts";
import { createPatience } from "../../platform/patience.ts";

/** Bytes that the runtime sends without a flush: its minimum. Shorter writes are flushed. */
const SENT_AT_ONCE_BYTES = 64;

/**
 * Returns the bytes of a source as they come; the source is held back while its reader's connection is full. A reader that
 * takes nothing for `stallMs` is given up; where it is or leaves, the source is cancelled at once, also while it is silent.
 * `onEnd` is called once: true where all was read.
 */
export function relayedStream(
  source: ByteSource,
  options: {
    readonly stallMs: number;
    readonly onEnd: (complete: boolean) => void;
    /** Called with what failed in the source: the reader only sees the connection break off. */
    readonly onError: (error: unknown) => void;
  },
): ReadableStream<Uint8Array> {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let hasEnded = false;
  const end = (complete: boolean): boolean => {
    patience.close();
    if (hasEnded) return false;
    hasEnded = true;
    options.onEnd(complete);
    return true;
  };
  const leave = (): void => {
    if (!end(false)) return;
    resolve();
    try {
      source.cancel();
    } catch (error) {
      options.onError(error);
    }
  };
  const patience = createPatience(options.stallMs, () => {
    leave();
    reject(new Error("The reader stalled"));
  });
  let isHeld = false;
  const goOn = (): void => {
    patience.end();
    isHeld = false;
    if (!hasEnded) source.resume();
  };
  // A direct stream: between a part and the connection there is no queue, and no promise where there is room.
  const direct: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(controller) {
      source.flow({
        write(part) {
          if (hasEnded) return;
          const written: unknown = controller.write(part);
          if (part.length < SENT_AT_ONCE_BYTES) controller.flush();
          if (isHeld || !(written instanceof Promise)) return;
          isHeld = true;
          patience.begin();
          source.pause();
          written.then(goOn, leave);
        },
        end() {
          if (!end(true)) return;
          controller.end();
          resolve();
        },
        fail(error) {
          if (!end(false)) return;
          options.onError(error);
          reject(new Error("The source of the reply failed"));
        },
      });
      return over;
    },
    cancel: leave,
  };
  return new ReadableStream<Uint8Array>(direct, { highWaterMark: SENT_AT_ONCE_BYTES });
}
