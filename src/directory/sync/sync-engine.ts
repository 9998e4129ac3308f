import type { Clock } from "../../platform/clock.ts";
import type { DirectoryFilePort } from "../../store/directory-port.ts";
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
import { type Contents, renewed } from "./draft.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { Complete, OwnMeasures } from "./own-measures.ts";
import { fetchState, publishState, type SharedState } from "./shared-state.ts";
import { keptOut, openStateFolder, type StateFolder, type StoredState } from "./state-folder.ts";
import {
  contentsOf,
  differs,
  firstState,
  freshnessOf,
  type Held,
  inNewEpoch,
  isOtherSample,
  isSample,
  NO_BASE,
  NO_CONTENTS,
  NOTHING_NEW,
  stateAfter,
  tripsOf,
  withContents,
} from "./sync-state.ts";
import type { Published, Syncer, SyncOptions, SyncOutcome } from "./syncer.ts";

export type SyncEngineDependencies = {
  readonly folder: string;
  readonly source: Source;
  readonly clock: Clock;
  readonly complete?: Complete | null;
  readonly measures?: OwnMeasures | null;
  /** Where the processes of a cluster share what one of them syncs. */
  readonly shared?: DirectoryFilePort | null;
  /** A new random id of letters and digits. */
  readonly newId: () => string;
  /** Gives back memory; called only where there is much to give back. */
  readonly collectGarbage?: () => void;
  /** Gives back what was left behind since the last time, at little cost. */
  readonly collectYoungGarbage?: () => void;
  /** Where the readers are in another thread, and can be notified of memory that is given up. Else all texts stay in memory. */
  readonly retire?: Retire;
};

/** A state that is published for the other processes of a cluster. */
type Shown = { readonly state: StoredState; readonly revision: number };

const LOG_BYTES_MAX = 1024 * 1024 * 1024;
/** How often the time of the last sync is written down where nothing else has changed. */
const TOUCH_MS = 300_000;
/** So many changes leave some ten megabytes behind. */
const LARGE_CHANGES = 5000;

/** The sync itself: reads the source, decides, makes the result durable, then builds what readers get. */
export function createSyncEngine(dependencies: SyncEngineDependencies): Syncer {
  const { source, clock, newId, shared = null } = dependencies;
  let dictionary = createDictionary();
  const { collectYoungGarbage, collectGarbage } = dependencies;
  const memoryDependencies = {
    ...(collectYoungGarbage === undefined ? {} : { collectYoungGarbage }),
    ...(collectGarbage === undefined ? {} : { collectGarbage }),
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
  /** Hosts with new measures of our own that no committed state shows yet. */
  const unshown = new Set<string>();
  let problems: readonly Failure[] = [];
  /** What is held was published so; null before. */
  let shown: Shown | null = null;
  const nothingHeld = (): Held => {
    return { state: firstState(source.name, newId), contents: NO_CONTENTS, snapshot: null, writtenAt: 0 };
  };
  let held: Held = nothingHeld();

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
    const published = await (shared === null ? loadStored(opened) : follow(opened));
    // From here on a sync builds on what is held.
    folder = opened;
    return published;
  };
  const loadStored = async (opened: StateFolder): Promise<Published | null> => {
    using cleanUp = new DisposableStack();
    const writer = createWriter();
    cleanUp.defer(writer.discard);
    const loaded = opened.load({ writer, dictionary, ...memoryDependencies });
    problems = loaded.problems;
    if (!("state" in loaded)) return null;
    if (isOtherSample(loaded.state.source, source.name)) {
      held = { ...held, state: { ...held.state, version: loaded.state.version } };
      return null;
    }
    dependencies.collectGarbage?.();
    const { state, contents, isPrevious } = loaded;
    const isSame = state.source === source.name;
    const known = isSame ? state : { ...state, upstream: null };
    const published = await hold(isPrevious ? inNewEpoch(known, newId) : known, contents, writer);
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

  /** Holds a state of another process, whose files are in the folder. */
  const takeOver = async (
    opened: StateFolder,
    { state, revision }: SharedState,
    isWhole: boolean,
  ): Promise<Published | null> => {
    const before = held.state;
    const goesOn =
      !isWhole && held.snapshot !== null && state.epoch === before.epoch && state.seq >= before.seq;
    const first = state.log[0]?.firstSeq ?? state.seq + 1;
    const known = goesOn && before.seq >= first - 1 ? { rows: held.contents.rows, seq: before.seq } : null;
    if (known !== null && state.digest === before.digest && state.version === before.version) {
      opened.touch(state, keptOut(state));
      const contents = { ...held.contents, ...keptOut(state) };
      held = { ...held, state, contents, writtenAt: state.syncedAt };
      shown = { state, revision };
      return null;
    }
    using cleanUp = new DisposableStack();
    const writer = createWriter();
    cleanUp.defer(writer.discard);
    const contents = opened.contentsOf(state, { writer, dictionary, ...memoryDependencies }, known);
    opened.commit(state, contents, opened.stored()?.base.file !== state.base.file);
    const published = await hold(state, contents, writer);
    cleanUp.move();
    shown = { state, revision };
    return published;
  };
  const follow = async (opened: StateFolder): Promise<Published | null> => {
    if (shared === null) return null;
    const known = { revision: shown?.revision ?? 0, state: shown?.state ?? opened.stored() };
    const fetched = await fetchState(shared, dependencies.folder, known);
    if (fetched === null) return null;
    try {
      return await takeOver(opened, fetched, false);
    } catch {
      // The files in the folder may be damaged.
      const anew = await fetchState(shared, dependencies.folder, { ...known, state: null });
      return anew === null ? null : takeOver(opened, anew, true);
    }
  };
  /** Lets the others have a state before anybody here reads it; returns what is published then. */
  const share = async (state: StoredState, term: number | null): Promise<Shown | null> => {
    if (shared === null || term === null) return null;
    const former = shown?.state ?? null;
    const revision = await publishState(shared, term, dependencies.folder, { state, former });
    return { state, revision };
  };
  /** What is held is of another source: a sync reads all of its own, and mixes no sample with it. */
  const leaveOtherSource = (): void => {
    const { state } = held;
    if (state.source === source.name) return;
    const isMixed = isOtherSample(state.source, source.name);
    held = isMixed
      ? { ...nothingHeld(), state: { ...firstState(source.name, newId), version: state.version } }
      : { ...held, state: { ...state, upstream: null } };
  };
  /** Makes sure that a sync builds on what is published. */
  const requireNewest = async (opened: StateFolder): Promise<void> => {
    if (shared === null) return;
    if ((await shared.readDirectory(shown?.revision ?? 0)) !== null) {
      throw new Error("another process has published a newer state");
    }
    if (shown === null && held.snapshot === null) await loadStored(opened);
    leaveOtherSource();
  };

  const take = async (
    opened: StateFolder,
    intake: Intake,
    writer: SegmentWriter,
    { acceptTripped, term = null }: SyncOptions,
  ): Promise<SyncOutcome> => {
    const draft = intake.draft ?? { ...held.contents, ...NOTHING_NEW };
    const accepted = tripsOf(held, intake, draft, clock.now());
    if (accepted.length > 0 && !acceptTripped) return { kind: "refused", reason: accepted.join("; ") };
    const known = stateAfter(held, intake, draft, dependencies, accepted.length > 0);
    const freshness = freshnessOf(known, draft);
    const isUnpublished = shared !== null && shown === null;
    if (draft.changes.length > 0 || known.base === NO_BASE || isUnpublished) {
      const isLarge = draft.changes.length > LARGE_CHANGES;
      if (isLarge) dependencies.collectGarbage?.();
      const staged = opened.stage(withContents(known, draft), draft, draft.changes, LOG_BYTES_MAX);
      const { state } = staged;
      const nowShown = await share(state, term);
      opened.commit(state, draft, staged.hasNewBase);
      if (isLarge) dependencies.collectGarbage?.();
      const published = await hold(state, draft, writer);
      // Not before it is held: where that fails, what is published is taken over like another process's.
      shown = nowShown;
      return { kind: "changed", published, freshness, accepted };
    }
    const isNews = known.syncedAt - held.writtenAt >= TOUCH_MS || differs(held.state, known);
    if (isNews) {
      const nowShown = await share(known, term);
      opened.touch(known, draft);
      shown = nowShown;
    } else if (term !== null) await shared?.confirmDirectory(term, known);
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
    async sync({ acceptTripped, term = null }) {
      using cleanUp = new DisposableStack();
      const writer = createWriter();
      cleanUp.defer(writer.discard);
      try {
        if (folder === null) await load();
        const opened = folder ?? openStateFolder(dependencies.folder);
        await requireNewest(opened);
        for (const host of dependencies.measures?.renew() ?? []) unshown.add(host);
        const { complete = null } = dependencies;
        const drafting = {
          ...{ now: clock.now(), writer, dictionary, ...memoryDependencies },
          ...(complete === null ? {} : { complete }),
        };
        const read = await source.read(held.state.upstream, held.contents, drafting);
        const draft = unshown.size === 0 ? read.draft : renewed(held.contents, read.draft, unshown, drafting);
        const intake = { ...read, draft };
        writer.finish();
        const options = { acceptTripped: acceptTripped || isSample(source.name), term };
        const outcome = await take(opened, intake, writer, options);
        if (outcome.kind === "changed") cleanUp.move();
        if (outcome.kind !== "refused") unshown.clear();
        return outcome;
      } catch (error) {
        const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : null;
        return { kind: "failed", ...failureOf(error), retryAfterMs };
      }
    },
    async follow() {
      try {
        const published = folder === null ? await load() : await follow(folder);
        const freshness = freshnessOf(held.state, held.contents);
        return { kind: "followed", published, freshness, revision: shown?.revision ?? 0 };
      } catch (error) {
        return { kind: "failed", ...failureOf(error), retryAfterMs: null };
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
