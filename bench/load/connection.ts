/** One keep-alive connection that has at most one request on its way. */
export type Connection = {
  readonly send: (request: Uint8Array) => void;
  readonly close: () => void;
};

export type ReplyHandler = {
  /** The whole reply has come. */
  readonly onReply: (status: number) => void;
  /** The connection broke, or was closed by the other end and not for idleness. */
  readonly onLost: () => void;
};

const HEAD_END = Buffer.from("\r\n\r\n");
const NOTHING: Buffer = Buffer.alloc(0);

/** Servers close what was silent for longer: the one that is measured after ten seconds. */
const IDLE_MS = 5000;

/**
 * Opens a bare socket: a client library would cost more than the server that is measured. One that the server closes for
 * idleness is opened anew by the next request, or by the one that crossed its end and got no byte back.
 */
export async function openConnection(
  url: string,
  { onReply, onLost }: ReplyHandler,
  now: () => number = () => performance.now(),
): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let socket: Bun.Socket | null = null;
  let unread = NOTHING;
  let unanswered: Uint8Array | null = null;
  let usedMs = now();
  let wasIdle = false;
  let closing = false;
  const lost = (gone: Bun.Socket) => {
    if (closing || gone !== socket) return;
    socket = null;
    if (unanswered === null ? now() - usedMs < IDLE_MS : !wasIdle || unread.length > 0) onLost();
    else if (unanswered !== null) openAnew();
  };
  const open = async () => {
    const opened = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, bytes) {
          unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes]);
          const length = replyLength(unread);
          if (length === null || unread.length < length) return;
          const status = statusOf(unread);
          unread = unread.length === length ? NOTHING : unread.subarray(length);
          unanswered = null;
          onReply(status);
        },
        close: lost,
        error: lost,
      },
    });
    if (closing) opened.end();
    else socket = opened;
  };
  const openAnew = () => {
    wasIdle = false;
    const sendUnanswered = () => {
      if (unanswered !== null) socket?.write(unanswered);
    };
    open().then(sendUnanswered, onLost);
  };
  await open();
  return {
    send(request) {
      const nowMs = now();
      wasIdle = nowMs - usedMs >= IDLE_MS;
      usedMs = nowMs;
      unanswered = request;
      if (socket === null) openAnew();
      else socket.write(request);
    },
    close() {
      closing = true;
      socket?.end();
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
