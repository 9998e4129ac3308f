import type { Row, Rows } from "../snapshot/row.ts";

/** A rejected record, and why it is. */
export type QuarantinedRecord = {
  readonly host: string | null;
  readonly reason: string;
  /** ISO 8601 UTC. */
  readonly firstSeen: string;
  /** The beginning of the record, in which the operator finds the fault. */
  readonly record: string;
};

/** Quarantined records by host, or by a hash of the record where no host could be read. */
export type Quarantine = ReadonlyMap<string, QuarantinedRecord>;

/** The payee of a deleted host and its last change, to know of both when the host returns. */
export type Tombstone = {
  readonly payee: string;
  /** ISO 8601 UTC; missing where no change is known. */
  readonly payToChangedAt?: string;
  /** The time of the deletion in ms UTC. */
  readonly at: number;
};

/** The contents of the directory before and after a sync. */
export type Contents = {
  readonly rows: Rows;
  readonly quarantine: Quarantine;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
};

export type Change =
  | { readonly op: "upsert"; readonly host: string; readonly row: Row }
  | { readonly op: "delete"; readonly host: string };

/** The contents that a sync would publish, before the breakers decide. */
export type Draft = Contents & {
  /** Deletions first, each kind sorted by host: at most one change for a host. */
  readonly changes: readonly Change[];
  /** Valid and invalid records, as the upstream counts them. */
  readonly records: number;
  /** Hosts whose payee was known before, and those among them that have another payee now. */
  readonly payeesCompared: number;
  readonly payeesChanged: number;
};
