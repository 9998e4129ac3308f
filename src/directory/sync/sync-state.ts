import type { Clock } from "../../platform/clock.ts";
import type { SnapshotRows } from "../snapshot/snapshot.ts";
import { digestOf, sortedByHost } from "../snapshot/snapshot-build.ts";
import type { Intake, Source } from "../upstream/source.ts";
import { trippedBreakers } from "./breakers.ts";
import type { Contents, Draft, Quarantine } from "./contents.ts";
import type { StoredState } from "./stored-state.ts";
import type { Freshness } from "./syncer.ts";

/** The state of the sync side between two syncs. */
export type Held = {
  readonly state: StoredState;
  readonly contents: Contents;
  /** Null before the first state. */
  readonly snapshot: SnapshotRows | null;
  /** The time of the last sync in `current.json`. */
  readonly writtenAt: number;
};

/** The name of the bundled sample, which is never mixed with another source: nobody offers its listings. */
export const SAMPLE_SOURCE = "sample";

export const NO_CONTENTS: Contents = { rows: new Map(), quarantine: new Map(), tombstones: new Map() };
export const NO_BASE: StoredState["base"] = { file: "", seq: 0, digest: "", bytes: 0 };

/** Returns the contents alone: a draft also references its changes, and the rows of these. */
export function contentsOf({ quarantine, tombstones }: Contents, rows: Contents["rows"]): Contents {
  return { rows, quarantine, tombstones };
}

/** The fields of a draft without changes. */
export const NOTHING_NEW = {
  changes: [],
  records: Number.POSITIVE_INFINITY,
  payeesCompared: 0,
  payeesChanged: 0,
};

/** Returns the state before the first sync. */
export function firstState(source: string, newId: () => string): StoredState {
  return {
    format: 1,
    source,
    epoch: newId(),
    version: 0,
    digest: "",
    count: 0,
    seq: 0,
    base: NO_BASE,
    log: [],
    syncedAt: 0,
    upstreamAgeMs: 0,
    upstream: null,
    quarantinedAccepted: 0,
    quarantine: [],
    tombstones: [],
  };
}

/**
 * Returns a state that is not the newest in a new epoch: readers of its feed may know changes that are lost, and must
 * start again. Its log is empty, as earlier changes are incomplete.
 */
export function inNewEpoch(state: StoredState, newId: () => string): StoredState {
  return { ...state, epoch: newId(), seq: state.count, log: [], base: NO_BASE, upstream: null };
}

/** Returns whether exactly one of two sources is the bundled sample. */
export function isOtherSample(stored: string, present: string): boolean {
  return isSample(stored) !== isSample(present);
}

/** Returns whether a source is the bundled sample; the settings that complete its listings follow its name. */
export function isSample(source: string): boolean {
  return source === SAMPLE_SOURCE || source.startsWith(`${SAMPLE_SOURCE} `);
}

/** Returns a sentence for each breaker that a draft trips; empty where it may be published. */
export function tripsOf(held: Held, intake: Intake, draft: Draft, now: number): string[] {
  const before = intake.isSameEpoch ? held.state.upstream : null;
  const trips = trippedBreakers({
    now,
    countBefore: held.contents.rows.size,
    count: draft.rows.size,
    records: draft.records,
    quarantined: draft.quarantine.size,
    quarantineReason: commonestReason(draft.quarantine),
    quarantinedAccepted: held.state.quarantinedAccepted,
    payeesCompared: draft.payeesCompared,
    payeesChanged: draft.payeesChanged,
    versionBefore: before?.version ?? null,
    version: intake.version,
    generatedAtBefore: before?.generatedAt ?? null,
    generatedAt: intake.memory.generatedAt,
    exportedAt: intake.generatedAt,
  });
  return trips.map((trip) => trip.message);
}

/** Returns the most frequent reason; empty without quarantined records. */
function commonestReason(quarantine: Quarantine): string {
  const counts = new Map<string, number>();
  for (const { reason } of quarantine.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

/** Returns the state after a sync, with the contents before it. */
export function stateAfter(
  held: Held,
  intake: Intake,
  draft: Draft,
  { source, clock }: { readonly source: Source; readonly clock: Clock },
  isAccepted: boolean,
): StoredState {
  const quarantined = draft.quarantine.size;
  return {
    ...held.state,
    source: source.name,
    syncedAt: clock.now(),
    upstreamAgeMs: intake.ageMs,
    upstream: intake.memory,
    quarantinedAccepted: isAccepted ? quarantined : Math.min(held.state.quarantinedAccepted, quarantined),
    quarantine: [...draft.quarantine].map(([key, { record: _, ...entry }]) => [key, entry]),
    tombstones: [...draft.tombstones],
  };
}

/** Returns the state with the contents of a draft, as the next version. */
export function withContents(state: StoredState, draft: Draft): StoredState {
  return {
    ...state,
    version: state.version + 1,
    digest: digestOf(sortedByHost(draft.rows.values())),
    count: draft.rows.size,
    seq: state.seq + draft.changes.length,
  };
}

/** Returns whether the two differ in the source or in the quarantine. */
export function differs(a: StoredState, b: StoredState): boolean {
  const reportOf = ({ source, upstream, quarantine }: StoredState) =>
    JSON.stringify([source, upstream, quarantine]);
  return reportOf(a) !== reportOf(b);
}

/** Returns the age of a state, and the number of its quarantined records. */
export function freshnessOf(state: StoredState, contents: Contents): Freshness {
  const { syncedAt, upstreamAgeMs } = state;
  return { syncedAt, upstreamAgeMs, quarantined: contents.quarantine.size };
}
