import type { ByteSink } from "./byte-reader.ts";
import type { FailureReason } from "./failure.ts";
import type { Peer } from "./peer.ts";
import type { ResponseHead } from "./response-head.ts";

export type Timings = {
  /** Times of the last hop: the look-up, TCP, the handshake, and from the request to the complete head. */
  readonly lookupMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
  readonly headMs: number;
};

/** A reply whose head has been received. */
export type OpenReply = ResponseHead & {
  readonly ok: true;
  /** The URL of the reply, after redirects. */
  readonly url: string;
  /** The URLs of the redirects, in order. */
  readonly redirects: readonly string[];
  readonly peer: Peer;
  readonly timings: Timings;
  /** Must be read once or cancelled. Throws OutgoingError where it breaks off or exceeds a limit. */
  readonly body: AsyncGenerator<Uint8Array>;
  /**
   * Pushes the body as it arrives, in its content coding, instead of `body`: for many small parts. Starts with the first
   * `resume`.
   */
  readonly flow: (sink: ByteSink) => BodyFlow;
  readonly cancel: () => void;
};

/** Controls a pushed body. While it is paused, its idle timeout does not run. */
export type BodyFlow = { readonly pause: () => void; readonly resume: () => void };

/** A whole reply. */
export type OutgoingReply = Omit<OpenReply, "body" | "flow" | "cancel"> & {
  readonly body: Uint8Array;
  /** Whether the body was longer and is truncated. */
  readonly isTruncated: boolean;
  readonly totalMs: number;
};

export type OutgoingFailure = {
  readonly ok: false;
  readonly reason: FailureReason;
  /** For operators: may name hosts and addresses. */
  readonly message: string;
  /** The code of the system's error, such as `ECONNREFUSED`. */
  readonly cause: unknown;
  /** The peer that was reached, with its certificate, even a refused one. */
  readonly peer: Peer | null;
  /** The status of a reply whose body failed. */
  readonly status: number | null;
  /** Its headers. */
  readonly headers: Headers | null;
  readonly totalMs: number;
};
