import { connect } from "node:net";

/** A connection on which the test says every byte itself. */
export type RawConnection = Disposable & {
  readonly write: (data: string | Uint8Array) => void;
  /** Resolves once the kernel has taken all of it, or the connection is closed. */
  readonly writeAll: (data: Uint8Array) => Promise<void>;
  /** What came back so far. */
  readonly received: () => string;
  readonly isClosed: () => boolean;
  /** Resolves with what came back once the other side has closed. */
  readonly closed: Promise<string>;
};

/** Opens a connection to a server's address. It never reads slowly; see `openStalled` for that. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  const decoder = new TextDecoder();
  let text = "";
  let isClosed = false;
  const close = () => {
    isClosed = true;
    drained?.();
    resolve(text);
  };
  const unsent: Uint8Array[] = [];
  let drained: (() => void) | undefined;
  const send = (bytes: Uint8Array) => {
    const taken = unsent.length === 0 ? Math.max(0, socket.write(bytes)) : 0;
    if (taken < bytes.byteLength) unsent.push(bytes.subarray(taken));
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        text += decoder.decode(bytes, { stream: true });
      },
      drain() {
        for (const bytes of unsent.splice(0)) send(bytes);
        if (unsent.length === 0) drained?.();
      },
      close,
      error: close,
    },
  });
  return {
    write: (data) => send(typeof data === "string" ? new TextEncoder().encode(data) : data),
    async writeAll(data) {
      send(data);
      if (unsent.length === 0 || isClosed) return;
      const { promise, resolve: resolveDrained } = Promise.withResolvers<void>();
      drained = resolveDrained;
      await promise;
    },
    received: () => text,
    isClosed: () => isClosed,
    closed,
    [Symbol.dispose]: () => socket.terminate(),
  };
}

/** A connection that stops reading once it has `bytesMax` bytes or a little more, until it is made to read on. */
export function openStalled(url: string, request: string, bytesMax: number) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const decoder = new TextDecoder();
  let allowed = bytesMax;
  let bytes = 0;
  let end = "";
  let isClosed = false;
  socket.on("data", (data) => {
    bytes += data.length;
    end = (end + decoder.decode(typeof data === "string" ? Buffer.from(data) : data, { stream: true })).slice(
      -500,
    );
    if (bytes >= allowed) socket.pause();
  });
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("error", () => undefined);
  socket.write(request);
  return {
    bytes: () => bytes,
    /** The last characters that were read. */
    end: () => end,
    isClosed: () => isClosed,
    /** Reads on until it has `bytesInAll` bytes. */
    readUpTo(bytesInAll: number) {
      allowed = bytesInAll;
      if (bytes < allowed) socket.resume();
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

export type RawReply = {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly body: string;
  /** From the first byte sent to the last one received. */
  readonly ms: number;
};

/** Text of a request whose connection ends with its reply. */
export function requestText(
  path: string,
  options: { readonly key?: string; readonly body?: string; readonly headers?: readonly string[] } = {},
): string {
  const { key, body, headers = [] } = options;
  const lines = [
    `${body === undefined ? "GET" : "POST"} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Connection: close",
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...(body === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
    ...headers,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`;
}

/** A call on a connection of its own: `fetch` keeps at most 256 under way. */
export async function rawCall(url: string, request: string): Promise<RawReply> {
  const startedMs = performance.now();
  using connection = await openRaw(url);
  connection.write(request);
  return readReply(await connection.closed, performance.now() - startedMs);
}

export function readReply(text: string, ms = 0): RawReply {
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return {
    status: Number(statusLine.split(" ")[1]),
    header: (name) => headers.get(name),
    body: text.slice(end + 4),
    ms,
  };
}
