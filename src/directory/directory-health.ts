import { nounOf } from "../contract/noun.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Feed, Opened, SyncOutcome } from "./sync/syncer.ts";

/** One state as readers see it. */
export type View = {
  readonly snapshot: Snapshot;
  readonly feed: Feed;
  readonly syncedAt: number;
  /** Seconds since the listings were current, including their age at each directory upstream. */
  readonly ageSeconds: number;
  /** Whether three intervals have passed without a sync. */
  readonly stale: boolean;
  readonly quarantined: number;
};

export type DirectoryStatus = {
  readonly status: "pass" | "warn";
  readonly ageSeconds: number | null;
  readonly output: string | null;
};

/** The outcome of a sync of this process. */
export type SyncKind = Exclude<SyncOutcome["kind"], "followed">;

export type DirectoryStats = {
  readonly version: number | null;
  readonly listings: number;
  readonly quarantined: number;
  readonly ageSeconds: number | null;
  readonly stale: boolean;
  readonly syncs: Readonly<Record<SyncKind, number>>;
  /** Whether this process syncs the directory for its cluster; null without a cluster. */
  readonly isLeading: boolean | null;
  readonly lastSyncMs: number | null;
};

/** Tracks the outcomes of syncs, and describes problems to the operator in words without paths, hosts and addresses. */
export function createHealth() {
  const syncs: Record<SyncKind, number> = { changed: 0, unchanged: 0, refused: 0, failed: 0 };
  let lastSyncMs: number | null = null;
  let problem: string | null = null;
  let refusal: string | null = null;
  let failure: string | null = null;
  return {
    open({ problems }: Opened): void {
      const shown = problems.map((damage) => damage.shown).join("; ");
      problem = shown === "" ? null : `The stored state was damaged: ${shown}.`;
    },
    note(outcome: SyncOutcome, tookMs: number): void {
      if (outcome.kind !== "followed") {
        syncs[outcome.kind] += 1;
        lastSyncMs = Math.round(tookMs);
      }
      failure = outcome.kind === "failed" ? outcome.shown : null;
      if (outcome.kind === "refused") refusal = outcome.reason;
      if (outcome.kind !== "failed" && outcome.kind !== "refused") {
        refusal = null;
        problem = null;
      }
    },
    status(view: View | null): DirectoryStatus {
      const last = failure === null ? "" : ` Last sync: ${failure}.`;
      const outputs = [
        problem,
        refusal === null ? null : `The upstream's state is refused: ${refusal}.`,
        view === null ? `No snapshot yet.${last}` : null,
        view?.stale === true ? `The snapshot is stale.${last}` : null,
      ].filter((output) => output !== null);
      const quarantined =
        view === null || view.quarantined === 0
          ? null
          : `${view.quarantined} ${nounOf(view.quarantined, "record")} quarantined.`;
      return {
        status: outputs.length === 0 ? "pass" : "warn",
        ageSeconds: view?.ageSeconds ?? null,
        output: outputs.length === 0 ? quarantined : outputs.join(" "),
      };
    },
    stats: (view: View | null, isLeading: boolean | null): DirectoryStats => ({
      version: view?.snapshot.version ?? null,
      listings: view?.snapshot.count ?? 0,
      quarantined: view?.quarantined ?? 0,
      ageSeconds: view?.ageSeconds ?? null,
      stale: view?.stale ?? false,
      syncs: { ...syncs },
      isLeading,
      lastSyncMs,
    }),
  };
}
