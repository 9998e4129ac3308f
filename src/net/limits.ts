export type OutgoingLimits = {
  readonly lookupTimeoutMs: number;
  /** For TCP and TLS, over all addresses. */
  readonly connectTimeoutMs: number;
  /** From the connection until the head is complete. */
  readonly headTimeoutMs: number;
  /** Between two reads of the body. */
  readonly idleTimeoutMs: number;
  /** From the call to the end of the body, redirects included; may be infinite. */
  readonly totalTimeoutMs: number;
  readonly headBytesMax: number;
  /** As received. */
  readonly bodyBytesMax: number;
  /** After gzip is decoded. */
  readonly decodedBytesMax: number;
};

/** The limits of a request to an unknown server. */
export const OUTGOING_LIMITS: OutgoingLimits = {
  lookupTimeoutMs: 3_000,
  connectTimeoutMs: 3_000,
  headTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
  totalTimeoutMs: 20_000,
  headBytesMax: 65_536,
  bodyBytesMax: 262_144,
  decodedBytesMax: 262_144,
};

/** The ports on which unknown servers are called; settings may add more. */
export const OUTGOING_PORTS: readonly number[] = [80, 443];
