/**
 * Returns the same bytes, read as fast as they are taken. A reader that takes nothing for `stallMs` is given up; where
 * it is or leaves, the source is cancelled at once, also while it is silent. `onEnd` is called once: true where all was
 * read.
 */
export function relayedStream(
  source: ReadableStream<Uint8Array>,
  options: {
    readonly stallMs: number;
    readonly onEnd: (complete: boolean) => void;
    /** Called with what failed in the source: the reader only sees the connection break off. */
    readonly onError: (error: unknown) => void;
  },
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let stall: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  const end = (complete: boolean): boolean => {
    clearTimeout(stall);
    if (ended) return false;
    ended = true;
    options.onEnd(complete);
    return true;
  };
  const leave = async (): Promise<void> => {
    if (end(false)) await reader.cancel().catch(options.onError);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stall);
        try {
          const { done, value } = await reader.read();
          if (ended) return;
          if (done) {
            end(true);
            controller.close();
            return;
          }
          controller.enqueue(value);
        } catch (error) {
          if (!end(false)) return;
          options.onError(error);
          controller.error(new Error("The source of the reply failed"));
          return;
        }
        stall = setTimeout(() => {
          controller.error(new Error("The reader stalled"));
          void leave();
        }, options.stallMs);
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
}
