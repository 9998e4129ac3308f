export type OutgoingLimits = {
  readonly lookupTimeoutMs: number;
  /** TCP and TLS, all addresses together. */
  readonly connectTimeoutMs: number;
  /** From the connection until the head is complete. */
  readonly headTimeoutMs: number;
  /** Between two parts of the body that are asked for. */
  readonly idleTimeoutMs: number;
  /** From the call to the end of the body, redirects included; may be infinite. */
  readonly totalTimeoutMs: number;
  readonly headBytesMax: number;
  /** As they come. */
  readonly bodyBytesMax: number;
  /** Once gzip is undone. */
  readonly decodedBytesMax: number;
};

/** What a request to an unknown server may take. */
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

/** The ports at which unknown servers are asked; more by setting. */
export const OUTGOING_PORTS: readonly number[] = [80, 443];
