/** Who answers at the other end. */
export type Peer = {
  readonly address: string;
  readonly port: number;
  /** Null for plain http. */
  readonly tls: PeerCertificate | null;
};

/** What the handshake showed. A connection that is used is always `authorized`; a failure may carry one that is not. */
export type PeerCertificate = {
  /** As `TLSv1.3`. */
  readonly protocol: string | null;
  /** The chain leads to a trusted root, the time is within the certificate's, and the name is one of its names. */
  readonly authorized: boolean;
  /** As `CERT_HAS_EXPIRED`, `DEPTH_ZERO_SELF_SIGNED_CERT`, `ERR_TLS_CERT_ALTNAME_INVALID`. */
  readonly error: string | null;
  /** Milliseconds since the epoch; null where the certificate does not say. */
  readonly validFrom: number | null;
  readonly validTo: number | null;
  readonly subject: string | null;
  readonly issuer: string | null;
  readonly names: string | null;
  readonly fingerprint256: string | null;
};
