import type { DirectoryAge } from "../../store/directory-port.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { LogFile } from "./change-log.ts";
import type { Failure } from "./failure.ts";

/** The sync side, as the main thread calls it. `open` and `sync` run one call at a time. */
export type Syncer = AsyncDisposable & {
  /** Loads the last good state. Throws where the folder cannot be made or written. */
  readonly open: () => Promise<Opened>;
  /** Syncs with the source. Every failure of the source is an outcome. */
  readonly sync: (options: SyncOptions) => Promise<SyncOutcome>;
  /** Adopts the state that another process of the cluster has published. */
  readonly follow: () => Promise<SyncOutcome>;
  /** Sets a function that is called before a state arrives that needs the memory of the oldest one. */
  readonly beforeSwap?: (dropOldest: () => void) => void;
  /** Returns the compressed export of a version; null where it is not the newest any more. */
  readonly gzip: (version: number, form: ExportForm) => Promise<Uint8Array<ArrayBuffer> | null>;
};

export type SyncOptions = {
  readonly acceptTripped: boolean;
  /** The term in which this process leads the cluster; none without a cluster. */
  readonly term?: number | null;
};

export type ExportForm = "ndjson" | "json";

/** The state that readers get, with its change feed. */
export type Published = {
  readonly snapshot: Snapshot;
  readonly feed: Feed;
};

/** The change feed up to a snapshot, and the files that contain it. */
export type Feed = {
  readonly epoch: string;
  readonly lastSeq: number;
  readonly folder: string;
  readonly files: readonly LogFile[];
};

export type Freshness = DirectoryAge & { readonly quarantined: number };

export type Opened = {
  readonly published: Published | null;
  readonly freshness: Freshness | null;
  /** The problems of the stored state, for the operator. */
  readonly problems: readonly Failure[];
};

export type SyncOutcome =
  | {
      readonly kind: "changed";
      readonly published: Published;
      readonly freshness: Freshness;
      /** The tripped breakers that the operator let pass. */
      readonly accepted: readonly string[];
    }
  | { readonly kind: "unchanged"; readonly freshness: Freshness; readonly accepted: readonly string[] }
  /** The state of another process; `published` is null where this one has it already. */
  | {
      readonly kind: "followed";
      readonly published: Published | null;
      readonly freshness: Freshness;
      readonly revision: number;
    }
  /** A breaker has tripped: the last good state stays. */
  | { readonly kind: "refused"; readonly reason: string }
  | ({ readonly kind: "failed"; readonly retryAfterMs: number | null } & Failure);

export type SharedDatabase = {
  readonly url: string;
  readonly isPooled: boolean;
  /** The process as which the main thread takes the turn. */
  readonly processId: string;
};

/** The settings of the sync side, as plain data. */
export type SyncSettings = {
  readonly folder: string;
  readonly upstream: string | null;
  readonly file: string | null;
  readonly allowPrivateUpstream: boolean;
  readonly allowRedirects: boolean;
  /** The PostgreSQL of a cluster, through which processes share the directory; none unless given. */
  readonly database?: SharedDatabase | null;
  /** The data directory of a prober, whose measures replace those of the source; none by default. */
  readonly probesDir?: string | null;
  /** The server to whose judging check all listings point; by default each keeps its own. */
  readonly judgeUrl?: string | null;
};
