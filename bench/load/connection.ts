/** One keep-alive connection that has at most one request on its way. */
export type Connection = {
  readonly send: (request: Uint8Array) => void;
  readonly close: () => void;
};

export type ReplyHandler = {
  /** The whole reply has come. */
  readonly onReply: (status: number) => void;
  /** The connection was closed by the other end, or broke. */
  readonly onLost: () => void;
};

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING: Buffer = Buffer.alloc(0);

/** Opens a bare socket: a client library would cost more than the server that is measured. */
export async function openConnection(url: string, { onReply, onLost }: ReplyHandler): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let unread = NOTHING;
  let closing = false;
  const lost = () => {
    if (!closing) onLost();
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes]);
        const length = replyLength(unread);
        if (length === null || unread.length < length) return;
        const status = statusOf(unread);
        unread = unread.length === length ? NOTHING : unread.subarray(length);
        onReply(status);
      },
      close: lost,
      error: lost,
    },
  });
  return {
    send: (request) => void socket.write(request),
    close() {
      closing = true;
      socket.end();
    },
  };
}

/** The length of head and body, or null while the head is not complete. */
function replyLength(bytes: Buffer): number | null {
  const end = bytes.indexOf(HEAD_END);
  if (end === -1) return null;
  const head = bytes.toString("latin1", 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`A reply without Content-Length: ${head}`);
  return end + HEAD_END.length + Number(length);
}

/** `HTTP/1.1 200 …` */
function statusOf(bytes: Buffer): number {
  return Number(bytes.toString("latin1", 9, 12));
}
