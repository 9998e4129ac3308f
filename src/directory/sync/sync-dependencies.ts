import type { AddressLookup } from "../../net/address-lookup.ts";
import type { Clock } from "../../platform/clock.ts";
import type { DirectoryFilePort } from "../../store/directory-port.ts";
import sample from "../data/sample.txt" with { type: "text" };
import type { Retire } from "../snapshot/segment-memory.ts";
import { createFileSource, createTextSource, ROW_LIMITS, type Source } from "../upstream/source.ts";
import { createUpstream } from "../upstream/upstream.ts";
import { UPSTREAM_LIMITS, type UpstreamLimits } from "../upstream/upstream-limits.ts";
import { createUpstreamSource } from "../upstream/upstream-source.ts";
import { createCompletion, type OwnMeasures } from "./own-measures.ts";
import { createSyncEngine } from "./sync-engine.ts";
import { SAMPLE_SOURCE } from "./sync-state.ts";
import type { Syncer, SyncSettings } from "./syncer.ts";

/** The dependencies of the sync side. */
export type SyncDependencies = {
  readonly lookUp: AddressLookup;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly limits?: UpstreamLimits;
  readonly collectGarbage?: () => void;
  readonly collectYoungGarbage?: () => void;
  readonly retire?: Retire;
  /** This server's own measures, which replace those of the source. */
  readonly measures?: OwnMeasures;
  /** The store through which the processes of a cluster share the directory. */
  readonly shared?: DirectoryFilePort;
};

/** Creates the sync side, with an upstream, else a file, else the bundled sample as its source. */
export function createSyncer(settings: SyncSettings, dependencies: SyncDependencies): Syncer {
  const { clock, newId } = dependencies;
  const { collectGarbage, collectYoungGarbage, retire, measures = null, shared = null } = dependencies;
  const { judgeUrl = null } = settings;
  const source = sourceOf(settings, dependencies);
  // Part of the source's name: with other settings the source is read whole once, which restores its own values.
  const completedBy = `${measures === null ? "" : " measured"}${judgeUrl === null ? "" : ` judged by ${judgeUrl}`}`;
  return createSyncEngine({
    folder: settings.folder,
    source: { ...source, name: `${source.name}${completedBy}` },
    complete: completedBy === "" ? null : createCompletion(measures, judgeUrl),
    measures,
    shared,
    clock,
    newId,
    ...(collectGarbage === undefined ? {} : { collectGarbage }),
    ...(collectYoungGarbage === undefined ? {} : { collectYoungGarbage }),
    ...(retire === undefined ? {} : { retire }),
  });
}

function sourceOf(settings: SyncSettings, dependencies: SyncDependencies): Source {
  const { upstream: baseUrl, file, allowPrivateUpstream: allowPrivate, allowRedirects } = settings;
  if (baseUrl === null)
    return file === null ? createTextSource(SAMPLE_SOURCE, sample) : createFileSource(file);
  const limits = dependencies.limits ?? UPSTREAM_LIMITS;
  const upstream = createUpstream({ baseUrl, allowPrivate, allowRedirects, limits }, dependencies);
  return createUpstreamSource(`upstream:${baseUrl}`, {
    upstream,
    clock: dependencies.clock,
    rowLimits: ROW_LIMITS,
  });
}
