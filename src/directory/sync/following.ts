import type { DirectoryFilePort } from "../../store/directory-port.ts";
import type { Holding } from "./holding.ts";
import { fetchState, publishState, type SharedState } from "./shared-state.ts";
import type { StateFolder } from "./state-folder.ts";
import { exclusionsOf, type StoredState } from "./stored-state.ts";
import { isOtherSample } from "./sync-state.ts";
import type { Published } from "./syncer.ts";

/** A state that is published for the other processes of a cluster. */
export type PublishedState = { readonly state: StoredState; readonly revision: number };

export type FollowingDependencies = {
  readonly folder: string;
  readonly source: { readonly name: string };
  /** The store through which the processes of a cluster share the directory. */
  readonly shared: DirectoryFilePort;
};

/**
 * Keeps the held state up to date with the one that is published in the cluster, and publishes what this process
 * syncs.
 */
export function createFollowing(dependencies: FollowingDependencies, holding: Holding) {
  const { folder, source, shared } = dependencies;
  /** The publication of the held state; null before. */
  let lastPublished: PublishedState | null = null;

  /** Adopts a state of another process, whose files are in the folder. */
  const adopt = async (
    opened: StateFolder,
    { state, revision }: SharedState,
    isWhole: boolean,
  ): Promise<Published | null> => {
    const held = holding.current();
    const before = held.state;
    const continues =
      !isWhole && held.snapshot !== null && state.epoch === before.epoch && state.seq >= before.seq;
    const first = state.log[0]?.firstSeq ?? state.seq + 1;
    const known = continues && before.seq >= first - 1 ? { rows: held.contents.rows, seq: before.seq } : null;
    if (known !== null && state.digest === before.digest && state.version === before.version) {
      const out = exclusionsOf(state);
      opened.touch(state, out);
      holding.revise({ state, contents: { ...held.contents, ...out }, writtenAt: state.syncedAt });
      lastPublished = { state, revision };
      return null;
    }
    using cleanUp = new DisposableStack();
    const writer = holding.createWriter();
    cleanUp.defer(writer.discard);
    const contents = opened.contentsOf(state, holding.rowsInto(writer), known);
    opened.commit(state, contents, opened.stored()?.base.file !== state.base.file);
    const published = await holding.take(state, contents, writer);
    cleanUp.move();
    lastPublished = { state, revision };
    return published;
  };
  /**
   * Leaves the position in another source, so that the next sync reads all of its own. The sample is cleared, as it
   * is never mixed with another source.
   */
  const leaveOtherSource = (): void => {
    const { state } = holding.current();
    if (state.source === source.name) return;
    if (isOtherSample(state.source, source.name)) holding.clear(state.version);
    else holding.revise({ state: { ...state, upstream: null } });
  };

  return {
    /** Adopts the published state; null where it is the held one. */
    async follow(opened: StateFolder): Promise<Published | null> {
      const known = {
        revision: lastPublished?.revision ?? 0,
        state: lastPublished?.state ?? opened.stored(),
      };
      const fetched = await fetchState(shared, folder, known);
      if (fetched === null) return null;
      try {
        return await adopt(opened, fetched, false);
      } catch {
        // The files in the folder may be damaged.
        const anew = await fetchState(shared, folder, { ...known, state: null });
        return anew === null ? null : adopt(opened, anew, true);
      }
    },
    /** Checks that a sync builds on the published state. Throws where another process has published since. */
    async requireNewest(opened: StateFolder): Promise<void> {
      if ((await shared.readDirectory(lastPublished?.revision ?? 0)) !== null) {
        throw new Error("another process has published a newer state");
      }
      if (lastPublished === null && holding.current().snapshot === null) await holding.load(opened);
      leaveOtherSource();
    },
    /** Publishes a state, before any reader of this process gets it. */
    async publish(term: number, state: StoredState): Promise<PublishedState> {
      const former = lastPublished?.state ?? null;
      const revision = await publishState(shared, term, folder, { state, former });
      return { state, revision };
    },
    /** Sets the publication of the state that is held from now on. */
    setPublished(published: PublishedState | null): void {
      lastPublished = published;
    },
    confirm: (term: number, state: StoredState) => shared.confirmDirectory(term, state),
    isPublished: () => lastPublished !== null,
    revision: () => lastPublished?.revision ?? 0,
  };
}
