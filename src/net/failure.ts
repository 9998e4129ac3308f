import type { Peer } from "./peer.ts";

/** Why a request to the outside brought no whole reply. */
export type FailureReason =
  /** The request itself: method, header or body that cannot be written. */
  | "bad_request"
  /** What the address names, before anything is looked up. */
  | "bad_url"
  | "bad_scheme"
  | "user_info"
  | "plain_http"
  | "bad_port"
  | "literal_address"
  | "local_name"
  /** The look-up of the host. */
  | "dns_not_found"
  | "dns_failed"
  | "dns_timeout"
  | "private_address"
  /** The connection. */
  | "connect_failed"
  | "connect_timeout"
  | "tls_failed"
  | "certificate_invalid"
  /** The reply. */
  | "head_timeout"
  | "head_too_large"
  | "bad_response"
  | "body_timeout"
  | "body_too_large"
  | "body_incomplete"
  | "bad_encoding"
  /** Redirects. */
  | "bad_redirect"
  | "too_many_redirects"
  | "other_host"
  | "insecure_redirect"
  /** The whole request. */
  | "total_timeout"
  | "aborted";

/** A request that failed. The message is for an operator or a log: it may name hosts and addresses. */
export class OutgoingError extends Error {
  override readonly name = "OutgoingError";
  readonly reason: FailureReason;
  /** Who was reached, where somebody was. */
  readonly peer: Peer | null;

  constructor(reason: FailureReason, message: string, options: { peer?: Peer; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.peer = options.peer ?? null;
  }
}
