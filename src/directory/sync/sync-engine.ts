import type { Clock } from "../../platform/clock.ts";
import type { DirectoryFilePort } from "../../store/directory-port.ts";
import type { SegmentWriter } from "../snapshot/shared-bytes.ts";
import type { Intake, Source } from "../upstream/source.ts";
import { UpstreamError } from "../upstream/upstream-limits.ts";
import { renewed } from "./draft.ts";
import { failureOf } from "./failure.ts";
import { createFollowing, type PublishedState } from "./following.ts";
import { createHolding, type HoldingDependencies } from "./holding.ts";
import type { Complete, OwnMeasures } from "./own-measures.ts";
import { openStateFolder, type StateFolder } from "./state-folder.ts";
import type { StoredState } from "./stored-state.ts";
import {
  contentsOf,
  differs,
  freshnessOf,
  isSample,
  NO_BASE,
  NOTHING_NEW,
  stateAfter,
  tripsOf,
  withContents,
} from "./sync-state.ts";
import type { Published, Syncer, SyncOptions, SyncOutcome } from "./syncer.ts";

export type SyncEngineDependencies = HoldingDependencies & {
  readonly source: Source;
  readonly clock: Clock;
  readonly complete?: Complete | null;
  readonly measures?: OwnMeasures | null;
  /** The store through which the processes of a cluster share the directory. */
  readonly shared?: DirectoryFilePort | null;
};

const LOG_BYTES_MAX = 1024 * 1024 * 1024;
/** How often the time of the last sync is stored where nothing else changes. */
const TOUCH_MS = 300_000;
/** Changes that leave some 10 MB of garbage. */
const LARGE_CHANGES = 5000;

/** Creates the sync: it reads the source, decides, makes the result durable, then builds the snapshot for readers. */
export function createSyncEngine(dependencies: SyncEngineDependencies): Syncer {
  const { source, clock, shared = null, complete = null } = dependencies;
  const holding = createHolding(dependencies);
  const following = shared === null ? null : createFollowing({ ...dependencies, shared }, holding);
  let folder: StateFolder | null = null;
  /** Hosts whose new measures are in no committed state yet. */
  const unpublishedHosts = new Set<string>();

  const load = async (): Promise<Published | null> => {
    const opened = openStateFolder(dependencies.folder);
    const published = await (following === null ? holding.load(opened) : following.follow(opened));
    // Set last, as a sync builds on the held state from here on.
    folder = opened;
    return published;
  };
  /** Publishes a state in the cluster; null without one. */
  const publish = async (state: StoredState, term: number | null): Promise<PublishedState | null> =>
    following === null || term === null ? null : following.publish(term, state);

  const take = async (
    opened: StateFolder,
    intake: Intake,
    writer: SegmentWriter,
    { acceptTripped, term = null }: SyncOptions,
  ): Promise<SyncOutcome> => {
    const held = holding.current();
    const draft = intake.draft ?? { ...held.contents, ...NOTHING_NEW };
    const accepted = tripsOf(held, intake, draft, clock.now());
    if (accepted.length > 0 && !acceptTripped) return { kind: "refused", reason: accepted.join("; ") };
    const known = stateAfter(held, intake, draft, dependencies, accepted.length > 0);
    const freshness = freshnessOf(known, draft);
    const isUnpublished = following?.isPublished() === false;
    if (draft.changes.length > 0 || known.base === NO_BASE || isUnpublished) {
      const isLarge = draft.changes.length > LARGE_CHANGES;
      if (isLarge) dependencies.collectGarbage?.();
      const staged = opened.stage(withContents(known, draft), draft, draft.changes, LOG_BYTES_MAX);
      const { state } = staged;
      const lastPublished = await publish(state, term);
      opened.commit(state, draft, staged.hasNewBase);
      if (isLarge) dependencies.collectGarbage?.();
      const published = await holding.take(state, draft, writer);
      // Set once it is held: on a failure before, the published state is adopted like that of another process.
      following?.setPublished(lastPublished);
      return { kind: "changed", published, freshness, accepted };
    }
    const isNews = known.syncedAt - held.writtenAt >= TOUCH_MS || differs(held.state, known);
    if (isNews) {
      const lastPublished = await publish(known, term);
      opened.touch(known, draft);
      following?.setPublished(lastPublished);
    } else if (term !== null) await following?.confirm(term, known);
    const writtenAt = isNews ? known.syncedAt : held.writtenAt;
    holding.revise({ state: known, contents: contentsOf(draft, held.contents.rows), writtenAt });
    return { kind: "unchanged", freshness, accepted };
  };

  return {
    async open() {
      const isAgain = folder !== null;
      const published = isAgain ? holding.publishAgain() : await load();
      const { state, contents } = holding.current();
      const freshness = published === null ? null : freshnessOf(state, contents);
      return { published, freshness, problems: isAgain ? [] : holding.problems() };
    },
    async sync({ acceptTripped, term = null }) {
      using cleanUp = new DisposableStack();
      const writer = holding.createWriter();
      cleanUp.defer(writer.discard);
      try {
        if (folder === null) await load();
        const opened = folder ?? openStateFolder(dependencies.folder);
        await following?.requireNewest(opened);
        for (const host of dependencies.measures?.renew() ?? []) unpublishedHosts.add(host);
        const drafting = {
          now: clock.now(),
          ...holding.rowsInto(writer),
          ...(complete === null ? {} : { complete }),
        };
        const held = holding.current();
        const read = await source.read(held.state.upstream, held.contents, drafting);
        const draft =
          unpublishedHosts.size === 0
            ? read.draft
            : renewed(held.contents, read.draft, unpublishedHosts, drafting);
        const intake = { ...read, draft };
        writer.finish();
        const options = { acceptTripped: acceptTripped || isSample(source.name), term };
        const outcome = await take(opened, intake, writer, options);
        if (outcome.kind === "changed") cleanUp.move();
        if (outcome.kind !== "refused") unpublishedHosts.clear();
        return outcome;
      } catch (error) {
        const retryAfterMs = error instanceof UpstreamError ? error.retryAfterMs : null;
        return { kind: "failed", ...failureOf(error), retryAfterMs };
      }
    },
    async follow() {
      try {
        const published = folder === null ? await load() : await (following?.follow(folder) ?? null);
        const { state, contents } = holding.current();
        const freshness = freshnessOf(state, contents);
        return { kind: "followed", published, freshness, revision: following?.revision() ?? 0 };
      } catch (error) {
        return { kind: "failed", ...failureOf(error), retryAfterMs: null };
      }
    },
    gzip: holding.gzip,
    [Symbol.asyncDispose]: async () => {},
  };
}
