import { MessageChannel } from "node:worker_threads";

/** Opens a port for a task to emit its events by; `all` is the end of them, which a null marks. */
export function listen<Event>(onEvent: (event: Event) => void, signal: AbortSignal) {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // It is waited for only where the task itself has ended well.
  promise.catch(() => undefined);
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  port1.on("message", (event: Event | null) => {
    if (event === null) resolve();
    else onEvent(event);
  });
  return { port: port2, all: promise, [Symbol.dispose]: () => port1.close() };
}
