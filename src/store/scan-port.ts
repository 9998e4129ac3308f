/** The report of a scan. It never changes. Times are milliseconds since the epoch. */
export type ReportRow = {
  readonly reportId: string;
  readonly origin: string;
  readonly scannedAt: number;
  /** Until then it is the origin's cached result. */
  readonly expiresAt: number;
  /** JSON, signed. */
  readonly report: string;
  /** What the score is made of: JSON, packed with zstd, in base64. */
  readonly evidence: string;
};

/** What the directory of scanned hosts lists of a host, as JSON. */
export type HostListing = { readonly host: string; readonly listing: string };

/** The reports of a scanning service, and the hosts that its directory lists. */
export type ScanStore = {
  /** Resolves once everything that was written before is on the disk. Rejects with a StorageError. */
  readonly sync: () => Promise<void>;
  readonly insert: (row: ReportRow) => void;
  readonly find: (reportId: string) => ReportRow | undefined;
  /** Returns the newest report of an origin. */
  readonly newest: (origin: string) => ReportRow | undefined;
  /** Removes up to `limit` reports that were scanned before a time; returns how many. */
  readonly removeOld: (before: number, limit: number) => number;
  /** Writes the listing of a host, JSON; null removes it. Returns whether anything has changed. */
  readonly list: (host: string, listing: string | null) => boolean;
  /** Returns up to `limit` listings in the order of their hosts, from behind a host on; "" is before all. */
  readonly listingsAfter: (host: string, limit: number) => readonly HostListing[];
};
