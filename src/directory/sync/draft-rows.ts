import { sha256 } from "../../platform/sha256.ts";
import { isHost, type Listing } from "../listing.ts";
import { payeeKey } from "../payee.ts";
import type { Dictionary } from "../snapshot/dictionary.ts";
import { createRow, type Row } from "../snapshot/row.ts";
import type { SegmentWriter } from "../snapshot/shared-bytes.ts";
import type { Contents, Quarantine, QuarantinedRecord } from "./contents.ts";
import type { Complete } from "./own-measures.ts";

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

/** Returns what keeps a record that is not taken over, with the time at which it was first seen. */
export function createRejecter(before: Quarantine, into: Map<string, QuarantinedRecord>, now: number) {
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

/** Returns the row of a listing; the previous one where nothing has changed. */
export function rowOf(read: Listing, base: Contents, dependencies: DraftDependencies): Row {
  const listing = dependencies.complete?.(read) ?? read;
  const previous = base.rows.get(listing.host);
  const known = previous ?? base.tombstones.get(listing.host);
  return createRow(listing, payToChangedAt(listing, known, dependencies.now), previous, dependencies);
}

/** Returns what is wrong with another record of a host; null where it repeats the first one word for word. */
export function repeatFault(
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
