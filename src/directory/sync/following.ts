import type { DirectoryFilePort } from "../../store/directory-port.ts";
import type { Holding } from "./holding.ts";
import { fetchState, publishState, type SharedState } from "./shared-state.ts";
import type { StateFolder } from "./state-folder.ts";
import { keptOut, type StoredState } from "./stored-state.ts";
import { isOtherSample } from "./sync-state.ts";
import type { Published } from "./syncer.ts";

/** A state that is published for the other processes of a cluster. */
export type Shown = { readonly state: StoredState; readonly revision: number };

export type FollowingDependencies = {
  readonly folder: string;
  readonly source: { readonly name: string };
  /** Where the processes of a cluster share what one of them syncs. */
  readonly shared: DirectoryFilePort;
};

/** Keeps what is held to what the processes of a cluster have published, and publishes what this one syncs. */
export function createFollowing(dependencies: FollowingDependencies, holding: Holding) {
  const { folder, source, shared } = dependencies;
  /** What is held was published so; null before. */
  let shown: Shown | null = null;

  /** Holds a state of another process, whose files are in the folder. */
  const takeOver = async (
    opened: StateFolder,
    { state, revision }: SharedState,
    isWhole: boolean,
  ): Promise<Published | null> => {
    const held = holding.current();
    const before = held.state;
    const goesOn =
      !isWhole && held.snapshot !== null && state.epoch === before.epoch && state.seq >= before.seq;
    const first = state.log[0]?.firstSeq ?? state.seq + 1;
    const known = goesOn && before.seq >= first - 1 ? { rows: held.contents.rows, seq: before.seq } : null;
    if (known !== null && state.digest === before.digest && state.version === before.version) {
      const out = keptOut(state);
      opened.touch(state, out);
      holding.revise({ state, contents: { ...held.contents, ...out }, writtenAt: state.syncedAt });
      shown = { state, revision };
      return null;
    }
    using cleanUp = new DisposableStack();
    const writer = holding.createWriter();
    cleanUp.defer(writer.discard);
    const contents = opened.contentsOf(state, holding.rowsInto(writer), known);
    opened.commit(state, contents, opened.stored()?.base.file !== state.base.file);
    const published = await holding.take(state, contents, writer);
    cleanUp.move();
    shown = { state, revision };
    return published;
  };
  /** What is held is of another source: a sync reads all of its own, and mixes no sample with it. */
  const leaveOtherSource = (): void => {
    const { state } = holding.current();
    if (state.source === source.name) return;
    if (isOtherSample(state.source, source.name)) holding.clear(state.version);
    else holding.revise({ state: { ...state, upstream: null } });
  };

  return {
    /** Takes over what is published; null where that is what is held. */
    async follow(opened: StateFolder): Promise<Published | null> {
      const known = { revision: shown?.revision ?? 0, state: shown?.state ?? opened.stored() };
      const fetched = await fetchState(shared, folder, known);
      if (fetched === null) return null;
      try {
        return await takeOver(opened, fetched, false);
      } catch {
        // The files in the folder may be damaged.
        const anew = await fetchState(shared, folder, { ...known, state: null });
        return anew === null ? null : takeOver(opened, anew, true);
      }
    },
    /** Makes sure that a sync builds on what is published. Throws where another process has published since. */
    async requireNewest(opened: StateFolder): Promise<void> {
      if ((await shared.readDirectory(shown?.revision ?? 0)) !== null) {
        throw new Error("another process has published a newer state");
      }
      if (shown === null && holding.current().snapshot === null) await holding.load(opened);
      leaveOtherSource();
    },
    /** Lets the others have a state before anybody here reads it. */
    async publish(term: number, state: StoredState): Promise<Shown> {
      const former = shown?.state ?? null;
      const revision = await publishState(shared, term, folder, { state, former });
      return { state, revision };
    },
    /** Says what is published of what is held from now on. */
    show(published: Shown | null): void {
      shown = published;
    },
    confirm: (term: number, state: StoredState) => shared.confirmDirectory(term, state),
    isShown: () => shown !== null,
    revision: () => shown?.revision ?? 0,
  };
}
