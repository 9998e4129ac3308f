import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";

/** A server below HTTP on a free port of 127.0.0.1: says what a connection gets once it has asked. */
export type RawServer = Disposable & {
  readonly port: number;
  /** What each connection has sent, in the order of their first words. */
  readonly requests: readonly string[];
  readonly connections: () => number;
};

type Answer = (socket: Socket, request: string) => void;

const CERTIFICATES = join(import.meta.dir, "certificates");

/** Reads a file of `certificates/`: an authority of our own (`ca.pem`), and what it has signed. */
export function certificate(file: string): string {
  return readFileSync(join(CERTIFICATES, file), "utf8");
}

/** Starts a server; with the name of a certificate, by TLS. */
export async function startRawServer(answer: Answer, certificateName?: string): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connections = 0;
  const take = (socket: Socket): void => {
    let place: number | null = null;
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (chunk) => {
      const text = chunk.toString("latin1");
      if (place === null) {
        // Only now: two connections may be opened before one of them sends anything.
        place = requests.push(text) - 1;
        answer(socket, text);
      } else requests[place] += text;
    });
  };
  const server =
    certificateName === undefined
      ? createServer(take)
      : createTlsServer(
          { cert: certificate(`${certificateName}.pem`), key: certificate(`${certificateName}.key`) },
          take,
        );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    requests,
    connections: () => connections,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
