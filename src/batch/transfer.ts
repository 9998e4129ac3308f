import type { MessagePort } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol } from "piscina";

/** A value for another thread, with a part of it that is moved: a copy would take its memory twice, or cannot be made. */
export function transfer(value: object, part: ArrayBufferLike | MessagePort) {
  return move({
    get [transferableSymbol]() {
      return [part];
    },
    get [valueSymbol]() {
      return value;
    },
  });
}
