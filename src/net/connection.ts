import { connect as connectTcp, isIP, type Socket } from "node:net";
import { checkServerIdentity, connect as connectTls, type TLSSocket } from "node:tls";
import { OutgoingError } from "./failure.ts";
import type { Peer, PeerCertificate } from "./peer.ts";
import type { OutgoingSocket } from "./socket.ts";

export type Connection = {
  readonly socket: OutgoingSocket;
  readonly peer: Peer;
  /** The time to connect by TCP, and that of the handshake (0 for plain http). */
  readonly connectMs: number;
  readonly tlsMs: number;
};

export type ConnectionOptions = {
  readonly address: string;
  readonly port: number;
  /** The name that the certificate must cover; null for no TLS. */
  readonly tlsName: string | null;
  /** Trusted roots instead of the built-in ones, PEM. */
  readonly ca: string | null;
  readonly monotonic: () => number;
  /** Ends the connection when aborted, established or not. */
  readonly signal: AbortSignal;
};

/** Connects to one address. Throws OutgoingError where that fails or the certificate does not cover the name. */
export type Connect = (options: ConnectionOptions) => Promise<Connection>;

/** Connects by TCP, and by TLS 1.2 or later where there is a name. Nothing is sent before the certificate is verified. */
export const connect: Connect = (options) => {
  const { address, port, tlsName, signal, monotonic } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const startedMs = monotonic();
  let connectedMs: number | null = null;
  const socket = tlsName === null ? connectTcp({ host: address, port }) : openTls(options, tlsName);
  const fail = (error: OutgoingError): void => {
    socket.destroy();
    reject(error);
  };
  const end = () => fail(new OutgoingError("connect_failed", "the connection was given up"));
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  socket.once("close", () => {
    signal.removeEventListener("abort", end);
    fail(
      new OutgoingError(connectedMs === null ? "connect_failed" : "tls_failed", "closed by the other end"),
    );
  });
  socket.on("error", (cause: Error & { readonly code?: string }) => {
    const reason = connectedMs === null ? "connect_failed" : "tls_failed";
    fail(new OutgoingError(reason, `${address} port ${port}: ${cause.code ?? cause.message}`, { cause }));
  });
  const established = (peer: Peer, doneMs: number): void => {
    // Paused until somebody reads: bytes that arrive before must wait in the kernel.
    socket.pause();
    const tcpMs = (connectedMs ?? doneMs) - startedMs;
    resolve({ socket: asOutgoing(socket), peer, connectMs: tcpMs, tlsMs: doneMs - startedMs - tcpMs });
  };
  socket.once("connect", () => {
    connectedMs = monotonic();
    if (tlsName === null) established({ address, port, tls: null }, connectedMs);
  });
  if (tlsName !== null) {
    socket.once("secureConnect", () => {
      const tls = certificateOf(socket as TLSSocket, tlsName);
      const peer = { address, port, tls };
      if (tls.authorized) established(peer, monotonic());
      else
        fail(new OutgoingError("certificate_invalid", `the certificate is not good: ${tls.error}`, { peer }));
    });
  }
  return promise;
};

function asOutgoing(socket: Socket): OutgoingSocket {
  return {
    write: (bytes) => void socket.write(bytes),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
    listen({ data, end, fail, close }) {
      socket.on("data", data);
      socket.once("end", end);
      socket.once("error", fail);
      if (socket.destroyed) close();
      else socket.once("close", close);
    },
  };
}

/** Verifies the certificate explicitly, so that a failure can name its fault. */
function openTls({ address, port, ca }: ConnectionOptions, name: string): TLSSocket {
  return connectTls({
    host: address,
    port,
    rejectUnauthorized: false,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
    // An IP address is not sent as server name (RFC 6066, 3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(ca === null ? {} : { ca }),
  });
}

function certificateOf(socket: TLSSocket, name: string): PeerCertificate {
  const certificate = socket.getPeerCertificate();
  const hasOne = certificate?.valid_to !== undefined;
  const nameError = hasOne ? checkServerIdentity(name, certificate) : new Error("no certificate");
  const chainError = socket.authorized ? null : (socket.authorizationError ?? "unauthorized");
  const code = (nameError as { readonly code?: string } | undefined)?.code ?? nameError?.message ?? null;
  return {
    protocol: socket.getProtocol(),
    authorized: socket.authorized && nameError === undefined,
    error: chainError === null ? code : String(chainError),
    validFrom: timeOf(certificate?.valid_from),
    validTo: timeOf(certificate?.valid_to),
    subject: textOf(certificate?.subject?.CN),
    issuer: textOf(certificate?.issuer?.O ?? certificate?.issuer?.CN),
    names: textOf(certificate?.subjectaltname),
    fingerprint256: textOf(certificate?.fingerprint256),
  };
}

function timeOf(text: string | undefined): number | null {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? null : time;
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : String(value);
}
