import type { ByteSink } from "./byte-reader.ts";
import type { FailureReason } from "./failure.ts";
import type { Peer } from "./peer.ts";
import type { ResponseHead } from "./response-head.ts";

export type Timings = {
  /** Of the last hop: the look-up, TCP, the handshake, and from the request to the whole head. */
  readonly lookupMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
  readonly headMs: number;
};

/** A reply whose head has come. */
export type OpenReply = ResponseHead & {
  readonly ok: true;
  /** Where the reply came from, redirects followed. */
  readonly url: string;
  /** The addresses that redirects led to, in order. */
  readonly redirects: readonly string[];
  readonly peer: Peer;
  readonly timings: Timings;
  /** To be read once, or let go with `cancel`. Throws OutgoingError where it breaks or passes a limit. */
  readonly body: AsyncGenerator<Uint8Array>;
  /**
   * Hands the body over as it comes and as it was sent, in any content coding, in place of `body`: for many small parts.
   * It is held back until the first `resume`.
   */
  readonly flow: (sink: ByteSink) => BodyFlow;
  readonly cancel: () => void;
};

/** A body that is handed over; while it is held back it is not late. */
export type BodyFlow = { readonly pause: () => void; readonly resume: () => void };

/** A whole reply. */
export type OutgoingReply = Omit<OpenReply, "body" | "flow" | "cancel"> & {
  readonly body: Uint8Array;
  /** The body was longer than is wanted; this is its beginning. */
  readonly isTruncated: boolean;
  readonly totalMs: number;
};

export type OutgoingFailure = {
  readonly ok: false;
  readonly reason: FailureReason;
  /** For an operator: it may name hosts and addresses. */
  readonly message: string;
  /** What the system said (`ECONNREFUSED`), where it said something. */
  readonly cause: unknown;
  /** Who was reached, with the certificate that was refused where one was. */
  readonly peer: Peer | null;
  /** The status of a reply whose body failed. */
  readonly status: number | null;
  readonly totalMs: number;
};
