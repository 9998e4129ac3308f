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
  /** A new random id of letters and digits. */
  readonly newId: () => string;
  /** Gives back memory; called only where there is much to give back. */
  readonly collectGarbage?: () => void;
  /** Gives back what was left behind since the last time, at little cost. */
  readonly collectYoungGarbage?: () => void;
  /** Where the readers are in another thread, and can be notified of memory that is given up. Else all texts stay in memory. */
  readonly retire?: Retire;
};

export type Holding = ReturnType<typeof createHolding>;

/** Holds the newest state with its listings, and builds from it what readers get. */
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
  /** Of each export that is under way, however many swaps it takes. */
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
  /** What the reading of rows needs. */
  const rowsInto = (writer: SegmentWriter) => ({ writer, dictionary, ...memoryDependencies });
  const publishedOf = (state: StoredState, snapshot: Snapshot): Published => {
    const feed = { epoch: state.epoch, lastSeq: state.seq, folder: dependencies.folder, files: state.log };
    return { snapshot, feed };
  };
  const take = async (state: StoredState, contents: Contents, writer: SegmentWriter): Promise<Published> => {
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

  return {
    /** What is held now. */
    current: () => held,
    /** Holds other listings, and returns what readers get of them. */
    take,
    /** Holds the same listings with other facts. */
    revise(facts: Partial<Omit<Held, "snapshot">>): void {
      held = { ...held, ...facts };
    },
    /** Holds nothing any more, under the version that was reached. */
    clear(version: number): void {
      const { state, ...rest } = nothing();
      held = { ...rest, state: { ...state, version } };
    },
    /** Holds the last good state of the folder; null if it is missing, or this source may not go on from it. */
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
    /** What was wrong with the state that was loaded. */
    problems: () => problems,
    /** The held state once more: an index belongs to the thread that it was transferred to. */
    publishAgain(): Published | null {
      const { state, contents, snapshot } = held;
      if (snapshot === null) return null;
      const index = buildIndex(sortedByHost(contents.rows.values()), dictionary);
      return publishedOf(state, { ...snapshot, ...index });
    },
    createWriter,
    rowsInto,
    /** The export of a version, compressed; null where that version is not the newest any more. */
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
