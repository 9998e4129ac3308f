import type { Clock } from "../clock.ts";
import type { Contents } from "./draft.ts";
import { compressedExport } from "./export.ts";
import { compactTexts, compactWords } from "./row.ts";
import { createSegmentWriter } from "./shared-bytes.ts";
import { buildSnapshot, sortedByHost } from "./snapshot-build.ts";
import type { Intake, Source } from "./source.ts";
import { openStateFolder, type StateFolder, type StoredState } from "./state-folder.ts";
import {
  contentsOf,
  differs,
  firstState,
  freshnessOf,
  type Held,
  inNewEpoch,
  isOtherSample,
  NO_BASE,
  NO_CONTENTS,
  NOTHING_NEW,
  SAMPLE_SOURCE,
  stateAfter,
  tripsOf,
  withContents,
} from "./sync-state.ts";
import type { Published, Syncer, SyncOutcome } from "./syncer.ts";
import { createDictionary } from "./text-index.ts";
import { UpstreamError } from "./upstream-limits.ts";

export type SyncEngineParts = {
  readonly folder: string;
  readonly source: Source;
  readonly clock: Clock;
  /** A new random id of letters and digits. */
  readonly newId: () => string;
  /** Gives back memory; called only where there is much to give back. */
  readonly relieve?: () => void;
};

const LOG_BYTES_MAX = 1024 * 1024 * 1024;
/** How often the time of the last sync is written down where nothing else has changed. */
const TOUCH_MS = 300_000;
/** So many changes leave some ten megabytes behind. */
const LARGE_CHANGES = 5000;

/** The sync itself: reads the source, decides, makes the result durable, then builds what readers get. */
export function createSyncEngine(parts: SyncEngineParts): Syncer {
  const { source, clock, newId } = parts;
  let dictionary = createDictionary();
  let folder: StateFolder | null = null;
  let problems: readonly string[] = [];
  let held: Held = {
    state: firstState(source.name, newId),
    contents: NO_CONTENTS,
    snapshot: null,
    writtenAt: 0,
  };

  const hold = (state: StoredState, contents: Contents): void => {
    const compacted = compactWords(compactTexts(contents.rows), dictionary);
    dictionary = compacted.dictionary;
    const snapshot = buildSnapshot(sortedByHost(compacted.rows.values()), dictionary, {
      version: state.version,
      digest: state.digest,
      feed: { epoch: state.epoch, seq: state.seq },
    });
    held = { state, contents: contentsOf(contents, compacted.rows), snapshot, writtenAt: state.syncedAt };
  };
  const published = (): Published | null => {
    const { snapshot, state } = held;
    if (snapshot === null) return null;
    const feed = { epoch: state.epoch, lastSeq: state.seq, folder: parts.folder, files: state.log };
    return { snapshot, feed };
  };
  const load = (): StateFolder => {
    const opened = openStateFolder(parts.folder);
    const loaded = opened.load({ writer: createSegmentWriter(), dictionary });
    problems = loaded.problems;
    if (!("state" in loaded)) return opened;
    const { state, contents, isPrevious } = loaded;
    if (isOtherSample(state.source, source.name)) {
      held = { ...held, state: { ...held.state, version: state.version } };
      return opened;
    }
    const isSame = state.source === source.name;
    const known = isSame ? state : { ...state, upstream: null };
    hold(isPrevious ? inNewEpoch(known, newId) : known, contents);
    return opened;
  };

  const take = (opened: StateFolder, intake: Intake, acceptTripped: boolean): SyncOutcome => {
    const draft = intake.draft ?? { ...held.contents, ...NOTHING_NEW };
    const accepted = tripsOf(held, intake, draft, clock.now());
    if (accepted.length > 0 && !acceptTripped) return { kind: "refused", reason: accepted.join("; ") };
    const known = stateAfter(held, intake, draft, parts, accepted.length > 0);
    const freshness = freshnessOf(known, draft);
    if (draft.changes.length > 0 || known.base === NO_BASE) {
      const isLarge = draft.changes.length > LARGE_CHANGES;
      if (isLarge) parts.relieve?.();
      const state = opened.commit(withContents(known, draft), draft, draft.changes, LOG_BYTES_MAX);
      if (isLarge) parts.relieve?.();
      hold(state, draft);
      const now = published();
      if (now === null) throw new Error("A state that is held has a snapshot.");
      return { kind: "changed", published: now, freshness, accepted };
    }
    const isNews = known.syncedAt - held.writtenAt >= TOUCH_MS || differs(held.state, known);
    if (isNews) opened.touch(known, draft);
    const { snapshot, contents } = held;
    const writtenAt = isNews ? known.syncedAt : held.writtenAt;
    held = { state: known, contents: contentsOf(draft, contents.rows), snapshot, writtenAt };
    return { kind: "unchanged", freshness, accepted };
  };

  return {
    async open() {
      folder ??= load();
      const freshness = held.snapshot === null ? null : freshnessOf(held.state, held.contents);
      return { published: published(), freshness, problems };
    },
    async sync({ acceptTripped }) {
      try {
        folder ??= load();
        const writer = createSegmentWriter();
        const { relieve } = parts;
        const intake = await source.read(held.state.upstream, held.contents, {
          now: clock.now(),
          writer,
          dictionary,
          ...(relieve === undefined ? {} : { relieve }),
        });
        writer.finish();
        return take(folder, intake, acceptTripped || source.name === SAMPLE_SOURCE);
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

function failureOf(error: unknown): SyncOutcome {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const detail = cause instanceof Error ? ` (${(cause as NodeJS.ErrnoException).code ?? cause.message})` : "";
  const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : null;
  return { kind: "failed", reason: `${message}${detail}`, retryAfterMs };
}
