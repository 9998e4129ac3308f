import { compressedExport } from "../export.ts";
import { createDictionary } from "../snapshot/dictionary.ts";
import { compactTexts, compactWords } from "../snapshot/row.ts";
import { createSegmentMemory, type Retire } from "../snapshot/segment-memory.ts";
import { countFrom, createSegmentWriter, type SegmentWriter } from "../snapshot/shared-bytes.ts";
import { retireSegments, type Snapshot, type SnapshotRows } from "../snapshot/snapshot.ts";
import { buildIndex, buildRows, sortedByHost } from "../snapshot/snapshot-build.ts";
import { createSpool } from "../snapshot/spool.ts";
import type { Contents } from "./contents.ts";
import type { Failure } from "./failure.ts";
import type { StateFolder } from "./state-folder.ts";
import type { StoredState } from "./stored-state.ts";
import { contentsOf, firstState, type Held, inNewEpoch, isOtherSample, NO_CONTENTS } from "./sync-state.ts";
import type { ExportForm, Published } from "./syncer.ts";

export type HoldingDependencies = {
  readonly folder: string;
  readonly source: { readonly name: string };
  /** Returns a new random id of letters and digits. */
  readonly newId: () => string;
  /** Collects all garbage. Called only where there is much. */
  readonly collectGarbage?: () => void;
  /** Collects young garbage, at little cost. */
  readonly collectYoungGarbage?: () => void;
  /** Switches readers in another thread to files before memory is reused. Without it all texts stay in memory. */
  readonly retire?: Retire;
};

export type Holding = ReturnType<typeof createHolding>;

/** Creates the holder of the newest state and its listings, which builds the snapshots for readers. */
export function createHolding(dependencies: HoldingDependencies) {
  const { source, newId, collectYoungGarbage, collectGarbage } = dependencies;
  const memoryDependencies = {
    ...(collectYoungGarbage === undefined ? {} : { collectYoungGarbage }),
    ...(collectGarbage === undefined ? {} : { collectGarbage }),
  };
  let dictionary = createDictionary();
  const nothing = (): Held => {
    return { state: firstState(source.name, newId), contents: NO_CONTENTS, snapshot: null, writtenAt: 0 };
  };
  let held: Held = nothing();
  let problems: readonly Failure[] = [];
  /** The snapshots of running exports, which may outlast several swaps. */
  const compressing: SnapshotRows[] = [];
  const nextId = countFrom(1);
  const memory = createSegmentMemory(async (segmentIds) => {
    await dependencies.retire?.(segmentIds);
    const ids = new Set(segmentIds);
    for (const snapshot of [held.snapshot, ...compressing]) {
      if (snapshot !== null) retireSegments(snapshot, ids);
    }
  });
  const createWriter = (): SegmentWriter => {
    return createSegmentWriter(
      dependencies.retire === undefined ? { nextId } : { nextId, spool: createSpool(dependencies.folder) },
    );
  };
  /** Returns the dependencies of reading rows. */
  const rowsInto = (writer: SegmentWriter) => ({ writer, dictionary, ...memoryDependencies });
  const publishedOf = (state: StoredState, snapshot: Snapshot): Published => {
    const feed = { epoch: state.epoch, lastSeq: state.seq, folder: dependencies.folder, files: state.log };
    return { snapshot, feed };
  };
  const take = async (state: StoredState, contents: Contents, writer: SegmentWriter): Promise<Published> => {
    const texts = compactTexts(contents.rows, createWriter);
    // All texts have moved, so no reader uses the file of the writer.
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

  return {
    /** Returns the held state. */
    current: () => held,
    /** Replaces the listings, and returns their snapshot for readers. */
    take,
    /** Updates other facts of the held state. */
    revise(facts: Partial<Omit<Held, "snapshot">>): void {
      held = { ...held, ...facts };
    },
    /** Drops the held state, but for its version. */
    clear(version: number): void {
      const { state, ...rest } = nothing();
      held = { ...rest, state: { ...state, version } };
    },
    /** Loads the last good state of the folder; null if it is missing, or if this source must not continue from it. */
    async load(folder: StateFolder): Promise<Published | null> {
      using cleanUp = new DisposableStack();
      const writer = createWriter();
      cleanUp.defer(writer.discard);
      const loaded = folder.load(rowsInto(writer));
      problems = loaded.problems;
      if (!("state" in loaded)) return null;
      if (isOtherSample(loaded.state.source, source.name)) {
        held = { ...held, state: { ...held.state, version: loaded.state.version } };
        return null;
      }
      collectGarbage?.();
      const { state, contents, isPrevious } = loaded;
      const isSame = state.source === source.name;
      const known = isSame ? state : { ...state, upstream: null };
      const published = await take(isPrevious ? inNewEpoch(known, newId) : known, contents, writer);
      cleanUp.move();
      return published;
    },
    /** The problems of the state that was loaded. */
    problems: () => problems,
    /**
     * Publishes the held state again, with a new index: the former one belongs to the thread that it was transferred
     * to.
     */
    publishAgain(): Published | null {
      const { state, contents, snapshot } = held;
      if (snapshot === null) return null;
      const index = buildIndex(sortedByHost(contents.rows.values()), dictionary);
      return publishedOf(state, { ...snapshot, ...index });
    },
    createWriter,
    rowsInto,
    /** Returns the compressed export of a version; null where it is not the newest any more. */
    async gzip(version: number, form: ExportForm): Promise<Uint8Array<ArrayBuffer> | null> {
      const { snapshot } = held;
      if (snapshot?.version !== version) return null;
      compressing.push(snapshot);
      try {
        return await compressedExport(snapshot, form);
      } finally {
        compressing.splice(compressing.indexOf(snapshot), 1);
      }
    },
  };
}
