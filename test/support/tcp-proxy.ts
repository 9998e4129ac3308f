import type { Socket } from "bun";

/** A way to a port on loopback that can swallow all that goes over it, as a cable that was pulled does. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** From now on nothing is passed on and nothing is closed, on connections old and new. */
  readonly swallow: () => void;
  readonly passOn: () => void;
};

type Pair = {
  other: Socket<Pair> | null;
  /** What came before the other side was there. */
  readonly waiting: Uint8Array[];
  /** What this side could not take yet. */
  readonly unsent: Uint8Array[];
};

/** A socket takes what it has room for, and says when it has more. */
function send(socket: Socket<Pair>, bytes: Uint8Array): void {
  const { unsent } = socket.data;
  const sent = unsent.length > 0 ? 0 : socket.write(bytes);
  if (sent < bytes.length) unsent.push(Uint8Array.from(bytes.subarray(Math.max(0, sent))));
}

function drain(socket: Socket<Pair>): void {
  for (const bytes of socket.data.unsent.splice(0)) send(socket, bytes);
}

export function startTcpProxy(port: number): TcpProxy {
  let isSwallowing = false;
  const open = new Set<Socket<Pair>>();
  const pass = (from: Socket<Pair>, bytes: Uint8Array): void => {
    if (isSwallowing) return;
    const { other, waiting } = from.data;
    if (other === null) waiting.push(Uint8Array.from(bytes));
    else send(other, bytes);
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
        socket.data = { other: null, waiting: [], unsent: [] };
        open.add(socket);
        if (isSwallowing) return;
        void Bun.connect<Pair>({
          hostname: "127.0.0.1",
          port,
          data: { other: socket, waiting: [], unsent: [] },
          socket: {
            open(upstream) {
              open.add(upstream);
              socket.data.other = upstream;
              for (const bytes of socket.data.waiting.splice(0)) send(upstream, bytes);
            },
            data: pass,
            drain,
            close,
          },
        }).catch(() => socket.end());
      },
      data: pass,
      drain,
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
