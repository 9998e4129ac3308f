/** The other end of a connection. */
export type Peer = {
  readonly address: string;
  readonly port: number;
  /** Null for plain http. */
  readonly tls: PeerCertificate | null;
};

/** The outcome of the TLS handshake. It is always `authorized` on a usable connection; a failure may carry another. */
export type PeerCertificate = {
  /** As `TLSv1.3`. */
  readonly protocol: string | null;
  /** The chain leads to a trusted root, the certificate is current, and it covers the name. */
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
