import type { MessagePort } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";

/** A value for another thread, which takes a part of it along: copying that would cost its memory twice, or cannot be. */
export function handOver(value: object, part: ArrayBufferLike | MessagePort) {
  return move({
    get [transferableSymbol]() {
      return [part];
    },
    get [valueSymbol]() {
      return value;
    },
  });
}
