import type { Row, Rows } from "../snapshot/row.ts";

/** A record that was not taken over, and why. */
export type QuarantinedRecord = {
  readonly host: string | null;
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly firstSeen: string;
  /** The beginning of the record, as an operator needs it to find the fault. */
  readonly record: string;
};

/** Quarantined records by host, or by a hash of the record where no host could be read. */
export type Quarantine = ReadonlyMap<string, QuarantinedRecord>;

/** The payee of a deleted host, so that one that comes back with another payee is noticed. */
export type Tombstone = { readonly payee: string; readonly at: number };

/** All that a sync starts from and ends with. */
export type Contents = {
  readonly rows: Rows;
  readonly quarantine: Quarantine;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
};

export type Change =
  | { readonly op: "upsert"; readonly host: string; readonly row: Row }
  | { readonly op: "delete"; readonly host: string };

/** What a sync would make of the directory, before anything is decided. */
export type Draft = Contents & {
  /** Deletions first, each kind by host: one change at most for a host. */
  readonly changes: readonly Change[];
  /** Good records and bad ones, as the upstream counts them. */
  readonly records: number;
  /** Hosts known before and after, and how many of them are paid at another address. */
  readonly payeesCompared: number;
  readonly payeesChanged: number;
};
