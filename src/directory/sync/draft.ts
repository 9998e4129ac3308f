import { DAY_MS } from "../../platform/days.ts";
import type { Listing } from "../listing.ts";
import { readListing } from "../listing-reader.ts";
import { createRow, type Row, type Rows } from "../snapshot/row.ts";
import { bytesAt, isSameText } from "../snapshot/shared-bytes.ts";
import type { Change, Contents, Draft, Quarantine, QuarantinedRecord, Tombstone } from "./contents.ts";
import { createRejecter, type DraftDependencies, duplicateFault, rowOf, tombstoneOf } from "./draft-rows.ts";

/** Bytes of a row of an export with the fields that are added here. Readers of the change feed rely on this limit. */
export const TEXT_BYTES_MAX = 66_000;
const TOMBSTONE_MS = 30 * DAY_MS;
const TOMBSTONES_MAX = 20_000;

/**
 * Creates the draft of a whole export. A host without a record is deleted; one whose record is rejected stays as it
 * was.
 */
export function createFullDraft(base: Contents, dependencies: DraftDependencies) {
  const rows = new Map<string, Row>();
  const quarantine = new Map<string, QuarantinedRecord>();
  const conflicts = new Set<string>();
  const reject = createRejecter(base.quarantine, quarantine, dependencies.now);
  return {
    /** Adds a row as it is in the body; null for one that was too long. */
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
        first === undefined ? "conflicting_payee" : duplicateFault(first, read.listing, base, dependencies);
      if (fault === null) return;
      if (fault === "conflicting_payee") {
        // Which of two payees is right is unknown here, so the host is rejected.
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

/** Creates the draft of changes of a feed, which are applied in order. */
export function createDeltaDraft(base: Contents, dependencies: DraftDependencies) {
  const rows = new Map(base.rows);
  /** Those of this draft too, for hosts that return in it. Later drafts compare with what was published. */
  const tombstones = new Map(base.tombstones);
  const quarantine = new Map(base.quarantine);
  const reject = createRejecter(base.quarantine, quarantine, dependencies.now);
  const clear = (host: string): void => {
    quarantine.delete(host);
    quarantine.delete(`${host}#2`);
  };
  return {
    /** `text` is the change as it came. */
    upsert(host: string, record: unknown, text: string): void {
      const read = readListing(record, dependencies.now);
      const reason = !read.ok ? read.reason : read.listing.host === host ? null : "host_mismatch";
      if (!read.ok || reason !== null) {
        reject(host, reason ?? "bad_record", text);
        return;
      }
      const row = rowOf(read.listing, { ...base, rows, tombstones }, dependencies);
      if (row.length > TEXT_BYTES_MAX) {
        reject(host, "row_too_long", text);
        return;
      }
      clear(host);
      rows.set(row.host, row);
    },
    delete(host: string): void {
      clear(host);
      const row = rows.get(host);
      if (row !== undefined) tombstones.set(host, tombstoneOf(row, dependencies.now));
      rows.delete(host);
    },
    /** Quarantines a change that is not understood. */
    reject,
    finish(): Draft {
      let good = rows.size;
      for (const host of quarantine.keys()) if (rows.has(host)) good -= 1;
      return finishDraft(base, { rows, quarantine }, good + quarantine.size, dependencies.now);
    },
  };
}

/**
 * Returns the draft with the own measures of these hosts renewed. Without a draft, returns one of these changes
 * alone, or null where nothing changes.
 */
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
  for (const row of base.rows.values()) {
    const { host } = row;
    if (next.rows.has(host)) continue;
    deletes.push({ op: "delete", host });
    tombstones.set(host, tombstoneOf(row, now));
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
