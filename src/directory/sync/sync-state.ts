import type { Clock } from "../../platform/clock.ts";
import type { SnapshotRows } from "../snapshot/snapshot.ts";
import { digestOf, sortedByHost } from "../snapshot/snapshot-build.ts";
import type { Intake, Source } from "../upstream/source.ts";
import { trippedBreakers } from "./breakers.ts";
import type { Contents, Draft, Quarantine } from "./contents.ts";
import type { StoredState } from "./stored-state.ts";
import type { Freshness } from "./syncer.ts";

/** What the sync side holds between two syncs. */
export type Held = {
  readonly state: StoredState;
  readonly contents: Contents;
  /** Null before the first state. */
  readonly snapshot: SnapshotRows | null;
  /** What `current.json` says of the last sync. */
  readonly writtenAt: number;
};

/** Name of the source that is never mixed with another: its listings are nobody's. */
export const SAMPLE_SOURCE = "sample";

export const NO_CONTENTS: Contents = { rows: new Map(), quarantine: new Map(), tombstones: new Map() };
export const NO_BASE: StoredState["base"] = { file: "", seq: 0, digest: "", bytes: 0 };

/** Returns the contents alone: a draft also holds its changes, and with them all that they speak of. */
export function contentsOf({ quarantine, tombstones }: Contents, rows: Contents["rows"]): Contents {
  return { rows, quarantine, tombstones };
}

/** What a draft adds to the contents, where it is missing. */
export const NOTHING_NEW = {
  changes: [],
  records: Number.POSITIVE_INFINITY,
  payeesCompared: 0,
  payeesChanged: 0,
};

/** Returns the state before anything was taken. */
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
 * The feed of a state that is not the newest: its readers may know changes that are lost, so they must begin
 * anew. The changes up to here are not there to be read, as they would be without their beginning.
 */
export function inNewEpoch(state: StoredState, newId: () => string): StoredState {
  return { ...state, epoch: newId(), seq: state.count, log: [], base: NO_BASE, upstream: null };
}

/** Returns whether one of two sources is the bundled sample, and the other is not. */
export function isOtherSample(stored: string, present: string): boolean {
  return isSample(stored) !== isSample(present);
}

/** What completes the listings stands after the source's name. */
export function isSample(source: string): boolean {
  return source === SAMPLE_SOURCE || source.startsWith(`${SAMPLE_SOURCE} `);
}

/** Returns what the breakers say of a draft, a sentence each; none where it may be published. */
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

/** Returns the reason that most records have; empty where there is none. */
function commonestReason(quarantine: Quarantine): string {
  const counts = new Map<string, number>();
  for (const { reason } of quarantine.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";
}

/** Returns the state after a sync whose contents are those before. */
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

/** Returns how old what is served is, and what was kept out of it. */
export function freshnessOf(state: StoredState, contents: Contents): Freshness {
  const { syncedAt, upstreamAgeMs } = state;
  return { syncedAt, upstreamAgeMs, quarantined: contents.quarantine.size };
}
