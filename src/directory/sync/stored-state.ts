import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../platform/sha256.ts";
import type { UpstreamMemory } from "../upstream/source.ts";
import type { LogFile } from "./change-log.ts";
import type { Contents, QuarantinedRecord, Tombstone } from "./contents.ts";
import { writeDurably } from "./durable-file.ts";

/** The contents of `current.json`, which alone decides which bytes of the other files are committed. */
export type StoredState = {
  readonly format: 1;
  /** The name of the source. */
  readonly source: string;
  readonly epoch: string;
  readonly version: number;
  readonly digest: string;
  readonly count: number;
  readonly seq: number;
  /** All listings as of `seq`; later changes are in the log. */
  readonly base: {
    readonly file: string;
    readonly seq: number;
    readonly digest: string;
    readonly bytes: number;
  };
  readonly log: readonly LogFile[];
  readonly syncedAt: number;
  readonly upstreamAgeMs: number;
  readonly upstream: UpstreamMemory | null;
  readonly quarantinedAccepted: number;
  readonly quarantine: readonly (readonly [string, Omit<QuarantinedRecord, "record">])[];
  readonly tombstones: readonly (readonly [string, Tombstone])[];
};

/** Returns the state of a file, or null where the file is missing. Throws where it cannot be read. */
export function readState(path: string): StoredState | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const [digest, json = ""] = text.split("\n", 2);
  if (digest !== sha256(json)) throw new Error("the digest does not match");
  const state = JSON.parse(json) as StoredState;
  if (state.format !== 1) throw new Error(`format ${state.format} is not known`);
  return state;
}

/** Returns the quarantine and the tombstones of a state. */
export function exclusionsOf(state: StoredState): Pick<Contents, "quarantine" | "tombstones"> {
  const quarantine = state.quarantine.map(([key, entry]) => [key, { ...entry, record: "" }] as const);
  return { quarantine: new Map(quarantine), tombstones: new Map(state.tombstones) };
}

/**
 * Writes `current.json`. `previous.json` changes with a new base only, so that the two never depend on the same base.
 */
export function writeState(folder: string, state: StoredState, hasNewBase: boolean): void {
  const current = join(folder, "current.json");
  const before = hasNewBase ? readText(current) : null;
  if (before !== null) writeDurably(join(folder, "previous.json"), (writer) => writer.put(before));
  const json = JSON.stringify(state);
  writeDurably(current, (writer) => writer.put(`${sha256(json)}\n${json}\n`));
}

/** Returns the contents of a file, or null where it is missing. */
export function readText(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
