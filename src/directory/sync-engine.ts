import type { Clock } from "../clock.ts";
import { trippedBreakers } from "./breakers.ts";
import type { Contents, Draft } from "./draft.ts";
import { compressedExport } from "./export.ts";
import { compactTexts, compactWords } from "./row.ts";
import { createSegmentWriter } from "./shared-bytes.ts";
import type { Snapshot } from "./snapshot.ts";
import { buildSnapshot, digestOf, sortedByHost } from "./snapshot-build.ts";
import type { Intake, Source } from "./source.ts";
import { openStateFolder, type StateFolder, type StoredState } from "./state-folder.ts";
import type { Freshness, Opened, Published, Syncer, SyncOutcome } from "./syncer.ts";
import { createDictionary } from "./text-index.ts";
import { UpstreamError } from "./upstream.ts";

export type SyncEngineParts = {
  readonly folder: string;
  readonly source: Source;
  readonly clock: Clock;
  /** A new random id of letters and digits. */
  readonly newId: () => string;
  /** Gives back memory; called only where there is much to give back. */
  readonly relieve?: () => void;
};

/** Name of the source that is never mixed with another: its listings are nobody's. */
export const SAMPLE_SOURCE = "sample";

const LOG_BYTES_MAX = 1024 * 1024 * 1024;
/** How often the time of the last sync is written down where nothing else has changed. */
const TOUCH_MS = 300_000;
/** So many changes leave some ten megabytes behind. */
const LARGE_CHANGES = 5000;
const NO_BASE: StoredState["base"] = { file: "", seq: 0, digest: "", bytes: 0 };
const NO_CONTENTS: Contents = { rows: new Map(), quarantine: new Map(), tombstones: new Map() };

type Held = {
  readonly state: StoredState;
  readonly contents: Contents;
  readonly snapshot: Snapshot | null;
  /** What `current.json` says of the last sync. */
  readonly writtenAt: number;
};

/** The sync itself: reads the source, decides, makes the result durable, then builds what readers get. */
export function createSyncEngine(parts: SyncEngineParts): Syncer {
  let dictionary = createDictionary();
  let opened: { readonly folder: StateFolder; readonly answer: Opened } | null = null;
  let held: Held = { state: firstState(parts), contents: NO_CONTENTS, snapshot: null, writtenAt: 0 };

  const publish = (state: StoredState, contents: Contents): Published => {
    const compacted = compactWords(compactTexts(contents.rows), dictionary);
    dictionary = compacted.dictionary;
    const sorted = sortedByHost(compacted.rows.values());
    const snapshot = buildSnapshot(sorted, dictionary, {
      version: state.version,
      digest: state.digest,
      feed: { epoch: state.epoch, seq: state.seq },
    });
    held = { state, contents: contentsOf(contents, compacted.rows), snapshot, writtenAt: state.syncedAt };
    return {
      snapshot,
      feed: { epoch: state.epoch, lastSeq: state.seq, folder: parts.folder, files: state.log },
    };
  };

  const open = (): { readonly folder: StateFolder; readonly answer: Opened } => {
    const folder = openStateFolder(parts.folder);
    const loaded = folder.load({ writer: createSegmentWriter(), dictionary });
    const { problems } = loaded;
    const nothing = { folder, answer: { published: null, freshness: null, problems } };
    if (!("state" in loaded)) return nothing;
    if (isOtherSample(loaded.state.source, parts.source.name)) {
      held = { ...held, state: { ...firstState(parts), version: loaded.state.version } };
      return nothing;
    }
    const isSame = loaded.state.source === parts.source.name && !loaded.isPrevious;
    const state: StoredState = isSame ? loaded.state : { ...loaded.state, upstream: null };
    const published = publish(loaded.isPrevious ? inNewEpoch(state, parts) : state, loaded.contents);
    return { folder, answer: { published, freshness: freshnessOf(state, loaded.contents), problems } };
  };

  const take = (folder: StateFolder, intake: Intake, acceptTripped: boolean): SyncOutcome => {
    const draft = intake.draft ?? { ...held.contents, ...NOTHING_NEW };
    const trips = tripsOf(held, intake, draft, parts.clock.now());
    if (trips.length > 0 && !acceptTripped) return { kind: "refused", reason: trips.join("; ") };
    const known = stateAfter(held, intake, draft, parts, trips.length > 0);
    const freshness = freshnessOf(known, draft);
    if (draft.changes.length > 0 || known.base === NO_BASE) {
      const isLarge = draft.changes.length > LARGE_CHANGES;
      if (isLarge) parts.relieve?.();
      const state = folder.commit(withContents(known, draft), draft, draft.changes, LOG_BYTES_MAX);
      if (isLarge) parts.relieve?.();
      return { kind: "changed", published: publish(state, draft), freshness, accepted: trips };
    }
    const isNews = known.syncedAt - held.writtenAt >= TOUCH_MS || differs(held.state, known);
    if (isNews) folder.touch(known, draft);
    const { rows } = held.contents;
    held = {
      ...held,
      state: known,
      contents: contentsOf(draft, rows),
      writtenAt: isNews ? known.syncedAt : held.writtenAt,
    };
    return { kind: "unchanged", freshness, accepted: trips };
  };

  return {
    async open() {
      opened ??= open();
      return opened.answer;
    },
    async sync({ acceptTripped }) {
      try {
        opened ??= open();
        const writer = createSegmentWriter();
        const now = parts.clock.now();
        const memory = held.state.upstream;
        const intake = await parts.source.read(memory, held.contents, {
          now,
          writer,
          dictionary,
          ...(parts.relieve === undefined ? {} : { relieve: parts.relieve }),
        });
        writer.finish();
        return take(opened.folder, intake, acceptTripped || parts.source.name === SAMPLE_SOURCE);
      } catch (error) {
        return failureOf(error);
      }
    },
    async gzip(version, form) {
      const { snapshot } = held;
      return snapshot?.version === version ? await compressedExport(snapshot, form) : null;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The contents alone: a draft also holds its changes, and with them all that they speak of. */
function contentsOf({ quarantine, tombstones }: Contents, rows: Contents["rows"]): Contents {
  return { rows, quarantine, tombstones };
}

const NOTHING_NEW = { changes: [], records: Number.POSITIVE_INFINITY, payeesCompared: 0, payeesChanged: 0 };

function firstState({ source, newId }: SyncEngineParts): StoredState {
  return {
    format: 1,
    source: source.name,
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
function inNewEpoch(state: StoredState, { newId }: SyncEngineParts): StoredState {
  return { ...state, epoch: newId(), seq: state.count, log: [], base: NO_BASE, upstream: null };
}

function isOtherSample(stored: string, present: string): boolean {
  return stored !== present && (stored === SAMPLE_SOURCE || present === SAMPLE_SOURCE);
}

function tripsOf(held: Held, intake: Intake, draft: Draft, now: number): string[] {
  const before = intake.isSameEpoch ? held.state.upstream : null;
  const trips = trippedBreakers({
    now,
    countBefore: held.contents.rows.size,
    count: draft.rows.size,
    records: draft.records,
    quarantined: draft.quarantine.size,
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

function stateAfter(
  held: Held,
  intake: Intake,
  draft: Draft,
  { source, clock }: SyncEngineParts,
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

function withContents(state: StoredState, draft: Draft): StoredState {
  return {
    ...state,
    version: state.version + 1,
    digest: digestOf(sortedByHost(draft.rows.values())),
    count: draft.rows.size,
    seq: state.seq + draft.changes.length,
  };
}

/** Whether the two tell different things of the source or of what is kept out. */
function differs(a: StoredState, b: StoredState): boolean {
  const told = ({ source, upstream, quarantine }: StoredState) =>
    JSON.stringify([source, upstream, quarantine]);
  return told(a) !== told(b);
}

function freshnessOf(state: StoredState, contents: Contents): Freshness {
  const { syncedAt, upstreamAgeMs } = state;
  return { syncedAt, upstreamAgeMs, quarantined: contents.quarantine.size };
}

function failureOf(error: unknown): SyncOutcome {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const detail = cause instanceof Error ? ` (${(cause as NodeJS.ErrnoException).code ?? cause.message})` : "";
  const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : null;
  return { kind: "failed", reason: `${message}${detail}`, retryAfterMs };
}
