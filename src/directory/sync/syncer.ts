import type { DirectoryAge } from "../../store/directory-port.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { LogFile } from "./change-log.ts";
import type { Failure } from "./failure.ts";

/** What the main thread asks of the sync side. One call at a time for `open` and `sync`. */
export type Syncer = AsyncDisposable & {
  /** Loads the last good state. Throws where the folder cannot be made or written. */
  readonly open: () => Promise<Opened>;
  /** Brings the directory up to date; whatever goes wrong with the source is an outcome. */
  readonly sync: (options: SyncOptions) => Promise<SyncOutcome>;
  /** Takes over what another process of the cluster has published. */
  readonly follow: () => Promise<SyncOutcome>;
  /** Sets what is called when a state is about to come that needs the memory of the oldest one. */
  readonly beforeSwap?: (giveUpOldest: () => void) => void;
  /** The export of a version, compressed; null where that version is not the newest any more. */
  readonly gzip: (version: number, form: ExportForm) => Promise<Uint8Array<ArrayBuffer> | null>;
};

export type SyncOptions = {
  readonly acceptTripped: boolean;
  /** Of this process's turn to sync the directory of a cluster; none where there is no cluster. */
  readonly term?: number | null;
};

export type ExportForm = "ndjson" | "json";

/** The state that readers get, and what is known of its age. */
export type Published = {
  readonly snapshot: Snapshot;
  readonly feed: Feed;
};

/** Where the changes up to a snapshot lie. */
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
  /** What is wrong with the stored state, for the operator. */
  readonly problems: readonly Failure[];
};

export type SyncOutcome =
  | {
      readonly kind: "changed";
      readonly published: Published;
      readonly freshness: Freshness;
      /** Breakers that the operator let pass. */
      readonly accepted: readonly string[];
    }
  | { readonly kind: "unchanged"; readonly freshness: Freshness; readonly accepted: readonly string[] }
  /** What another process has published; null where that is what this one had. */
  | {
      readonly kind: "followed";
      readonly published: Published | null;
      readonly freshness: Freshness;
      readonly revision: number;
    }
  /** A breaker has tripped: the last good state stays. */
  | { readonly kind: "refused"; readonly reason: string }
  | ({ readonly kind: "failed"; readonly retryAfterMs: number | null } & Failure);

/** What the sync side needs to know, as plain data. */
export type SyncSettings = {
  readonly folder: string;
  readonly upstream: string | null;
  readonly file: string | null;
  readonly allowPrivateUpstream: boolean;
  readonly allowRedirects: boolean;
  /** The PostgreSQL of a cluster, through which processes share the directory; none unless given. */
  readonly database?: { readonly url: string; readonly isPooled: boolean } | null;
  /** The data directory of a prober whose evidence stands in the listings; none unless given. */
  readonly probesDir?: string | null;
  /** The server whose judging check all listings point to; the one that each names unless given. */
  readonly judgeUrl?: string | null;
};
