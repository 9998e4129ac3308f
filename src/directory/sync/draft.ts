import { sha256 } from "../../platform/sha256.ts";
import { isHost, type Listing, readListing } from "../listing.ts";
import { payeeKey } from "../payee.ts";
import type { Dictionary } from "../snapshot/dictionary.ts";
import { createRow, type Row, type Rows } from "../snapshot/row.ts";
import { bytesAt, isSameText, type SegmentWriter } from "../snapshot/shared-bytes.ts";
import type { Complete } from "./own-measures.ts";

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

export type DraftDependencies = {
  readonly now: number;
  readonly writer: SegmentWriter;
  readonly dictionary: Dictionary;
  /** Puts in what this server knows better than the source. */
  readonly complete?: Complete;
  /** Gives back what was left behind just now; to be called after every half megabyte that is read. */
  readonly collectYoungGarbage?: () => void;
  /** Gives back all that can be; to be called after every few megabytes. */
  readonly collectGarbage?: () => void;
};

const RECORD_EXCERPT_LENGTH = 1000;
/** A row of an export, and the little that may be added to it here. Readers of the change feed rely on it. */
export const TEXT_BYTES_MAX = 66_000;
const TOMBSTONE_MS = 30 * 86_400_000;
const TOMBSTONES_MAX = 20_000;

/** Takes the rows of a whole export. A host that is not among them is gone, unless its record was bad. */
export function createFullDraft(base: Contents, dependencies: DraftDependencies) {
  const rows = new Map<string, Row>();
  const quarantine = new Map<string, QuarantinedRecord>();
  const conflicts = new Set<string>();
  const reject = createRejecter(base.quarantine, quarantine, dependencies.now);
  return {
    /** Takes a row as it stood in the body, null for one that was too long. */
    take(text: string | null): void {
      const record = text === null ? undefined : parseRecord(text);
      if (record === undefined) {
        reject(null, text === null ? "row_too_long" : "not_json", text ?? "");
        return;
      }
      const read = readListing(record, dependencies.now);
      if (!read.ok) {
        reject(read.host, read.reason, text ?? "");
        return;
      }
      const { host } = read.listing;
      const first = rows.get(host);
      if (first === undefined && !conflicts.has(host)) {
        const row = rowOf(read.listing, base, dependencies);
        if (row.length > TEXT_BYTES_MAX) reject(host, "row_too_long", text ?? "");
        else rows.set(row.host, row);
        return;
      }
      const fault =
        first === undefined ? "conflicting_payee" : repeatFault(first, read.listing, base, dependencies);
      if (fault === null) return;
      if (fault === "conflicting_payee") {
        // Which of two payees is right cannot be known here: neither is taken over.
        conflicts.add(host);
        rows.delete(host);
      }
      reject(fault === "conflicting_payee" ? host : `${host}#2`, fault, text ?? "");
    },
    finish(): Draft {
      const good = rows.size;
      for (const host of quarantine.keys()) {
        const previous = base.rows.get(host);
        if (previous !== undefined && !rows.has(host)) rows.set(host, previous);
      }
      return finishDraft(base, { rows, quarantine }, good + quarantine.size, dependencies.now);
    },
  };
}

/** Applies changes of a feed, one after the other. */
export function createDeltaDraft(base: Contents, dependencies: DraftDependencies) {
  const rows = new Map(base.rows);
  const quarantine = new Map(base.quarantine);
  const reject = createRejecter(base.quarantine, quarantine, dependencies.now);
  const clear = (host: string): void => {
    quarantine.delete(host);
    quarantine.delete(`${host}#2`);
  };
  return {
    upsert(host: string, record: unknown): void {
      const read = readListing(record, dependencies.now);
      const reason = !read.ok ? read.reason : read.listing.host === host ? null : "host_mismatch";
      if (!read.ok || reason !== null) {
        reject(host, reason ?? "bad_record", JSON.stringify(record) ?? "");
        return;
      }
      const row = rowOf(read.listing, { ...base, rows }, dependencies);
      if (row.length > TEXT_BYTES_MAX) {
        reject(host, "row_too_long", JSON.stringify(record));
        return;
      }
      clear(host);
      rows.set(row.host, row);
    },
    delete(host: string): void {
      clear(host);
      rows.delete(host);
    },
    /** Keeps a change that says something unknown. */
    reject: (host: string | null, reason: string, record: unknown): void =>
      reject(host, reason, JSON.stringify(record) ?? ""),
    finish(): Draft {
      let good = rows.size;
      for (const host of quarantine.keys()) if (rows.has(host)) good -= 1;
      return finishDraft(base, { rows, quarantine }, good + quarantine.size, dependencies.now);
    },
  };
}

/** Returns the draft with these hosts completed anew; where the source had nothing new, one of that alone, or null. */
export function renewed(
  base: Contents,
  draft: Draft | null,
  hosts: Iterable<string>,
  dependencies: DraftDependencies,
): Draft | null {
  const next: Contents = draft ?? base;
  const rows = new Map(next.rows);
  let isNew = false;
  for (const host of hosts) {
    const row = rows.get(host);
    if (row === undefined) continue;
    const listing = JSON.parse(new TextDecoder().decode(bytesAt(row))) as Listing;
    const completed = dependencies.complete?.(listing) ?? listing;
    const changedAt = completed.evidence.pay_to_changed_at ?? row.payToChangedAt;
    const again = createRow(completed, changedAt, row, dependencies);
    if (again === row || again.length > TEXT_BYTES_MAX) continue;
    rows.set(host, again);
    isNew = true;
  }
  if (!isNew) return draft;
  const records = draft?.records ?? Number.POSITIVE_INFINITY;
  return finishDraft(base, { rows, quarantine: next.quarantine }, records, dependencies.now);
}

function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function createRejecter(before: Quarantine, into: Map<string, QuarantinedRecord>, now: number) {
  return (key: string | null, reason: string, record: string): void => {
    const id = key ?? `#${sha256(record).slice(0, 16)}`;
    const host = key?.split("#")[0] ?? null;
    into.set(id, {
      host: host !== null && isHost(host) ? host : null,
      reason,
      firstSeen: before.get(id)?.firstSeen ?? new Date(now).toISOString(),
      record: record.slice(0, RECORD_EXCERPT_LENGTH),
    });
  };
}

function rowOf(read: Listing, base: Contents, dependencies: DraftDependencies): Row {
  const listing = dependencies.complete?.(read) ?? read;
  const previous = base.rows.get(listing.host);
  const known = previous ?? base.tombstones.get(listing.host);
  return createRow(listing, payToChangedAt(listing, known, dependencies.now), previous, dependencies);
}

/** Null where a host that came before is repeated word for word. */
function repeatFault(
  first: Row,
  read: Listing,
  base: Contents,
  dependencies: DraftDependencies,
): string | null {
  const listing = dependencies.complete?.(read) ?? read;
  if (payeeKey(listing.evidence.pay_to) !== first.payee) return "conflicting_payee";
  const known = base.rows.get(listing.host) ?? base.tombstones.get(listing.host);
  const again = createRow(listing, payToChangedAt(listing, known, dependencies.now), first, dependencies);
  return again === first ? null : "duplicate_host";
}

/**
 * When the payee was last seen to change. What the upstream says counts, but a change that was seen here and
 * that it does not own up to is dated now.
 */
function payToChangedAt(
  listing: Listing,
  known: { readonly payee: string; readonly payToChangedAt?: string | null } | undefined,
  now: number,
): string | null {
  const said = listing.evidence.pay_to_changed_at;
  if (known === undefined) return said ?? null;
  const before = known.payToChangedAt ?? null;
  if (payeeKey(listing.evidence.pay_to) === known.payee) return said ?? before;
  return said !== undefined && said !== null && said !== before ? said : new Date(now).toISOString();
}

function finishDraft(
  base: Contents,
  next: { readonly rows: Rows; readonly quarantine: Quarantine },
  records: number,
  now: number,
): Draft {
  const upserts: Change[] = [];
  const tombstones = new Map(base.tombstones);
  let payeesCompared = 0;
  let payeesChanged = 0;
  for (const row of next.rows.values()) {
    const { host } = row;
    const previous = base.rows.get(host);
    const known = previous ?? tombstones.get(host);
    if (known !== undefined) payeesCompared += 1;
    if (known !== undefined && known.payee !== row.payee) payeesChanged += 1;
    if (previous === undefined) tombstones.delete(host);
    if (previous === undefined || !isSameText(previous, row)) upserts.push({ op: "upsert", host, row });
  }
  const deletes: Change[] = [];
  for (const { host, payee } of base.rows.values()) {
    if (next.rows.has(host)) continue;
    deletes.push({ op: "delete", host });
    tombstones.set(host, { payee, at: now });
  }
  const byHost = (a: Change, b: Change): number => (a.host < b.host ? -1 : 1);
  return {
    ...next,
    tombstones: recent(tombstones, now),
    changes: deletes.sort(byHost).concat(upserts.sort(byHost)),
    records,
    payeesCompared,
    payeesChanged,
  };
}

function recent(tombstones: Map<string, Tombstone>, now: number): ReadonlyMap<string, Tombstone> {
  const kept = [...tombstones].filter(([, tombstone]) => now - tombstone.at < TOMBSTONE_MS);
  return new Map(kept.slice(-TOMBSTONES_MAX));
}
