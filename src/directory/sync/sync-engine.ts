import type { Clock } from "../../platform/clock.ts";
import { compressedExport } from "../export.ts";
import { createDictionary } from "../snapshot/dictionary.ts";
import { compactTexts, compactWords } from "../snapshot/row.ts";
import { createSegmentMemory, type Retire } from "../snapshot/segment-memory.ts";
import { countFrom, createSegmentWriter, type SegmentWriter } from "../snapshot/shared-bytes.ts";
import { retireSegments, type Snapshot, type SnapshotRows } from "../snapshot/snapshot.ts";
import { buildIndex, buildRows, sortedByHost } from "../snapshot/snapshot-build.ts";
import { createSpool } from "../snapshot/spool.ts";
import type { Intake, Source } from "../upstream/source.ts";
import { UpstreamError } from "../upstream/upstream-limits.ts";
import type { Contents } from "./draft.ts";
import { type Failure, failureOf } from "./failure.ts";
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

export type SyncEngineDependencies = {
  readonly folder: string;
  readonly source: Source;
  readonly clock: Clock;
  /** A new random id of letters and digits. */
  readonly newId: () => string;
  /** Gives back memory; called only where there is much to give back. */
  readonly relieve?: () => void;
  /** Gives back what was left behind since the last time, at little cost. */
  readonly sweep?: () => void;
  /** Where the readers are in another thread, and can be notified of memory that is given up. Else all texts stay in memory. */
  readonly retire?: Retire;
};

const LOG_BYTES_MAX = 1024 * 1024 * 1024;
/** How often the time of the last sync is written down where nothing else has changed. */
const TOUCH_MS = 300_000;
/** So many changes leave some ten megabytes behind. */
const LARGE_CHANGES = 5000;

/** The sync itself: reads the source, decides, makes the result durable, then builds what readers get. */
export function createSyncEngine(dependencies: SyncEngineDependencies): Syncer {
  const { source, clock, newId } = dependencies;
  let dictionary = createDictionary();
  const { sweep, relieve } = dependencies;
  const memoryDependencies = {
    ...(sweep === undefined ? {} : { sweep }),
    ...(relieve === undefined ? {} : { relieve }),
  };
  const nextId = countFrom(1);
  const memory = createSegmentMemory(async (segmentIds) => {
    await dependencies.retire?.(segmentIds);
    const ids = new Set(segmentIds);
    for (const snapshot of [held.snapshot, ...compressing]) {
      if (snapshot !== null) retireSegments(snapshot, ids);
    }
  });
  /** Of each export that is under way, however many swaps it takes. */
  const compressing: SnapshotRows[] = [];
  const createWriter = (): SegmentWriter => {
    return createSegmentWriter(
      dependencies.retire === undefined ? { nextId } : { nextId, spool: createSpool(dependencies.folder) },
    );
  };
  let folder: StateFolder | null = null;
  let problems: readonly Failure[] = [];
  let held: Held = {
    state: firstState(source.name, newId),
    contents: NO_CONTENTS,
    snapshot: null,
    writtenAt: 0,
  };

  const hold = async (state: StoredState, contents: Contents, writer: SegmentWriter): Promise<Published> => {
    const texts = compactTexts(contents.rows, createWriter);
    // Then all have moved, and no reader knows the offsets that the writer gave them.
    if (texts !== contents.rows) writer.discard();
    const compacted = compactWords(texts, dictionary);
    dictionary = compacted.dictionary;
    const sorted = sortedByHost(compacted.rows.values());
    await memory.makeRoom(compacted.rows);
    const index = buildIndex(sorted, dictionary);
    memory.load();
    const snapshot = buildRows(sorted, {
      version: state.version,
      digest: state.digest,
      feed: { epoch: state.epoch, seq: state.seq },
    });
    held = { state, contents: contentsOf(contents, compacted.rows), snapshot, writtenAt: state.syncedAt };
    return publishedOf(state, { ...snapshot, ...index });
  };
  const publishedOf = (state: StoredState, snapshot: Snapshot): Published => {
    const feed = { epoch: state.epoch, lastSeq: state.seq, folder: dependencies.folder, files: state.log };
    return { snapshot, feed };
  };
  const load = async (): Promise<Published | null> => {
    const opened = openStateFolder(dependencies.folder);
    using cleanUp = new DisposableStack();
    const writer = createWriter();
    cleanUp.defer(writer.discard);
    const loaded = opened.load({ writer, dictionary, ...memoryDependencies });
    problems = loaded.problems;
    if (!("state" in loaded) || isOtherSample(loaded.state.source, source.name)) {
      if ("state" in loaded) held = { ...held, state: { ...held.state, version: loaded.state.version } };
      folder = opened;
      return null;
    }
    dependencies.relieve?.();
    const { state, contents, isPrevious } = loaded;
    const isSame = state.source === source.name;
    const known = isSame ? state : { ...state, upstream: null };
    const published = await hold(isPrevious ? inNewEpoch(known, newId) : known, contents, writer);
    // From here on a sync builds on what is held.
    folder = opened;
    cleanUp.move();
    return published;
  };
  /** The held state once more: an index belongs to whom it was handed to. */
  const publishAgain = (): Published | null => {
    const { state, contents, snapshot } = held;
    if (snapshot === null) return null;
    return publishedOf(state, {
      ...snapshot,
      ...buildIndex(sortedByHost(contents.rows.values()), dictionary),
    });
  };

  const take = async (
    opened: StateFolder,
    intake: Intake,
    writer: SegmentWriter,
    acceptTripped: boolean,
  ): Promise<SyncOutcome> => {
    const draft = intake.draft ?? { ...held.contents, ...NOTHING_NEW };
    const accepted = tripsOf(held, intake, draft, clock.now());
    if (accepted.length > 0 && !acceptTripped) return { kind: "refused", reason: accepted.join("; ") };
    const known = stateAfter(held, intake, draft, dependencies, accepted.length > 0);
    const freshness = freshnessOf(known, draft);
    if (draft.changes.length > 0 || known.base === NO_BASE) {
      const isLarge = draft.changes.length > LARGE_CHANGES;
      if (isLarge) dependencies.relieve?.();
      const state = opened.commit(withContents(known, draft), draft, draft.changes, LOG_BYTES_MAX);
      if (isLarge) dependencies.relieve?.();
      return { kind: "changed", published: await hold(state, draft, writer), freshness, accepted };
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
      const published = folder === null ? await load() : publishAgain();
      const freshness = published === null ? null : freshnessOf(held.state, held.contents);
      return { published, freshness, problems };
    },
    async sync({ acceptTripped }) {
      using cleanUp = new DisposableStack();
      const writer = createWriter();
      cleanUp.defer(writer.discard);
      try {
        if (folder === null) await load();
        const intake = await source.read(held.state.upstream, held.contents, {
          now: clock.now(),
          writer,
          dictionary,
          ...memoryDependencies,
        });
        writer.finish();
        const opened = folder ?? openStateFolder(dependencies.folder);
        const outcome = await take(opened, intake, writer, acceptTripped || source.name === SAMPLE_SOURCE);
        if (outcome.kind === "changed") cleanUp.move();
        return outcome;
      } catch (error) {
        const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : null;
        return { kind: "failed", ...failureOf(error), retryAfterMs };
      }
    },
    async gzip(version, form) {
      const { snapshot } = held;
      if (snapshot?.version !== version) return null;
      compressing.push(snapshot);
      try {
        return await compressedExport(snapshot, form);
      } finally {
        compressing.splice(compressing.indexOf(snapshot), 1);
      }
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
