import type { Socket } from "bun";

/** A way to a port on loopback that can swallow all that goes over it, as a cable that was pulled does. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** From now on nothing is passed on and nothing is closed, on connections old and new. */
  readonly swallow: () => void;
  readonly passOn: () => void;
};

type Pair = { other: Socket<Pair> | null; waiting: Uint8Array[] };

export function startTcpProxy(port: number): TcpProxy {
  let isSwallowing = false;
  const open = new Set<Socket<Pair>>();
  const pass = (from: Socket<Pair>, bytes: Uint8Array): void => {
    if (isSwallowing) return;
    const { other, waiting } = from.data;
    if (other === null) waiting.push(Uint8Array.from(bytes));
    else other.write(bytes);
  };
  const close = (socket: Socket<Pair>): void => {
    open.delete(socket);
    if (!isSwallowing) socket.data.other?.end();
  };
  const listener = Bun.listen<Pair>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { other: null, waiting: [] };
        open.add(socket);
        if (isSwallowing) return;
        void Bun.connect<Pair>({
          hostname: "127.0.0.1",
          port,
          data: { other: socket, waiting: [] },
          socket: {
            open(upstream) {
              open.add(upstream);
              socket.data.other = upstream;
              for (const bytes of socket.data.waiting.splice(0)) upstream.write(bytes);
            },
            data: pass,
            close,
          },
        }).catch(() => socket.end());
      },
      data: pass,
      close,
    },
  });
  return {
    port: listener.port,
    swallow: () => {
      isSwallowing = true;
    },
    passOn: () => {
      isSwallowing = false;
      // What was swallowed is missing: those connections are of no more use.
      for (const socket of open) socket.terminate();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.terminate();
      listener.stop(true);
    },
  };
}
