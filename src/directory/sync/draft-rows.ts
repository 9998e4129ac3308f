import { sha256 } from "../../platform/sha256.ts";
import { isHost, type Listing } from "../listing.ts";
import { payeeKey } from "../payee.ts";
import type { Dictionary } from "../snapshot/dictionary.ts";
import { createRow, type Row } from "../snapshot/row.ts";
import type { SegmentWriter } from "../snapshot/shared-bytes.ts";
import type { Contents, Quarantine, QuarantinedRecord, Tombstone } from "./contents.ts";
import type { Complete } from "./own-measures.ts";

export type DraftDependencies = {
  readonly now: number;
  readonly writer: SegmentWriter;
  readonly dictionary: Dictionary;
  /** Sets the fields that this server measures itself. */
  readonly complete?: Complete;
  /** Collects young garbage. Called for every 512 KiB that are read. */
  readonly collectYoungGarbage?: () => void;
  /** Collects all garbage. Called for every few megabytes that are read. */
  readonly collectGarbage?: () => void;
};

const RECORD_EXCERPT_LENGTH = 1000;
/** Longer than any host with what marks a duplicate: longer keys are hashed. */
const KEY_LENGTH_MAX = 256;

/** Returns a function that quarantines a record, with the time at which it was first seen. */
export function createRejecter(before: Quarantine, into: Map<string, QuarantinedRecord>, now: number) {
  return (key: string | null, reason: string, record: string): void => {
    const isKey = key !== null && key.length <= KEY_LENGTH_MAX;
    const id = isKey ? key : `#${sha256(key ?? record).slice(0, 16)}`;
    const host = key?.split("#")[0] ?? null;
    into.set(id, {
      host: host !== null && isHost(host) ? host : null,
      reason,
      firstSeen: before.get(id)?.firstSeen ?? new Date(now).toISOString(),
      // Written anew: a slice would keep the whole record in memory.
      record: Buffer.from(record.slice(0, RECORD_EXCERPT_LENGTH)).toString(),
    });
  };
}

/** Returns the row of a listing; the previous one where nothing has changed. */
export function rowOf(read: Listing, base: Contents, dependencies: DraftDependencies): Row {
  const listing = dependencies.complete?.(read) ?? read;
  const previous = base.rows.get(listing.host);
  const known = previous ?? base.tombstones.get(listing.host);
  return createRow(listing, payToChangedAt(listing, known, dependencies.now), previous, dependencies);
}

/** Returns what is remembered of a row that is deleted. */
export function tombstoneOf({ payee, payToChangedAt }: Row, at: number): Tombstone {
  return { payee, ...(payToChangedAt === null ? {} : { payToChangedAt }), at };
}

/** Returns the fault of a further record of a host; null for an exact duplicate of the first one. */
export function duplicateFault(
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
 * Returns the time of the last change of the payee: the one that the upstream states, but now for a change that is
 * seen here and that the upstream does not state.
 */
function payToChangedAt(
  listing: Listing,
  known: { readonly payee: string; readonly payToChangedAt?: string | null } | undefined,
  now: number,
): string | null {
  const stated = listing.evidence.pay_to_changed_at;
  if (known === undefined) return stated ?? null;
  const before = known.payToChangedAt ?? null;
  if (payeeKey(listing.evidence.pay_to) === known.payee) return stated ?? before;
  return stated !== undefined && stated !== null && stated !== before ? stated : new Date(now).toISOString();
}
