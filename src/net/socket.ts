/** A connected socket, which starts paused. */
export type OutgoingSocket = {
  readonly write: (bytes: Uint8Array) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly destroy: () => void;
  /** Called once, before the first `resume`; what has happened by then is emitted at once. */
  readonly listen: (listener: SocketListener) => void;
};

export type SocketListener = {
  readonly data: (chunk: Uint8Array) => void;
  /** The other end has sent all. */
  readonly end: () => void;
  readonly fail: (cause: Error) => void;
  readonly close: () => void;
};
