import { type Connect, type Connection, connect } from "./connection.ts";
import { OutgoingError } from "./failure.ts";
import type { OutgoingSocket, SocketListener } from "./socket.ts";

/**
 * Connects as `connect` does, but without TLS by Bun's own sockets, which take half the time for each received part (10 µs
 * instead of 20, measured): for streams of many small parts.
 */
export const connectDirectly: Connect = (options) => {
  const { address, port, signal, monotonic } = options;
  if (options.tlsName !== null) return connect(options);
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const startedMs = monotonic();
  const fail = (detail: string, cause?: unknown): void =>
    reject(new OutgoingError("connect_failed", detail, cause === undefined ? {} : { cause }));
  const end = () => fail("the connection was given up");
  if (signal.aborted) end();
  else {
    signal.addEventListener("abort", end, { once: true });
    openSocket(address, port, signal).then(
      (socket) => {
        signal.removeEventListener("abort", end);
        const peer = { address, port, tls: null };
        resolve({ socket, peer, connectMs: monotonic() - startedMs, tlsMs: 0 });
      },
      (cause: Error & { readonly code?: string }) => {
        signal.removeEventListener("abort", end);
        fail(`${address} port ${port}: ${cause.code ?? cause.message}`, cause);
      },
    );
  }
  return promise;
};

async function openSocket(hostname: string, port: number, signal: AbortSignal): Promise<OutgoingSocket> {
  let listener: SocketListener | null = null;
  let hasEnded = false;
  let failure: Error | null = null;
  let isClosed = false;
  let unsent: Uint8Array = new Uint8Array(0);
  const socket = await Bun.connect({
    hostname,
    port,
    socket: {
      binaryType: "uint8array",
      open: (opened) => void opened.pause(),
      data: (_, chunk) => listener?.data(chunk),
      end() {
        hasEnded = true;
        listener?.end();
      },
      error(_, error) {
        failure = error;
        listener?.fail(error);
      },
      close() {
        isClosed = true;
        signal.removeEventListener("abort", destroy);
        listener?.close();
      },
      drain: () => send(),
    },
  });
  const destroy = () => void socket.terminate();
  const send = (): void => {
    if (unsent.length === 0) return;
    const sent = socket.write(unsent);
    if (sent > 0) unsent = unsent.subarray(sent);
  };
  if (signal.aborted) destroy();
  else signal.addEventListener("abort", destroy, { once: true });
  return {
    write(bytes) {
      unsent = unsent.length === 0 ? bytes : Buffer.concat([unsent, bytes]);
      send();
    },
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy,
    listen(by) {
      listener = by;
      if (hasEnded) by.end();
      if (failure !== null) by.fail(failure);
      if (isClosed) by.close();
    },
  };
}
