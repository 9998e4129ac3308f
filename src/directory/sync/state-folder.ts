import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Listing } from "../listing.ts";
import type { Dictionary } from "../snapshot/dictionary.ts";
import { createRow, type Row, type Rows } from "../snapshot/row.ts";
import type { SegmentWriter } from "../snapshot/shared-bytes.ts";
import { digestOf, sortedByHost } from "../snapshot/snapshot-build.ts";
import { appendChanges, type LogFile, linesAfter, removeFile, retainedFiles } from "./change-log.ts";
import type { Change, Contents } from "./contents.ts";
import { syncFolder, writeDurably } from "./durable-file.ts";
import { damageOf, type Failure } from "./failure.ts";
import { chunksOfFile, linesOfFile } from "./line-file.ts";
import { exclusionsOf, readState, readText, type StoredState, writeState } from "./stored-state.ts";

export type Loaded = {
  readonly state: StoredState;
  readonly contents: Contents;
  /** The newest state could not be read: this is the one before it. */
  readonly isPrevious: boolean;
  readonly problems: readonly Failure[];
};

type RowDependencies = {
  readonly writer: SegmentWriter;
  readonly dictionary: Dictionary;
  readonly collectYoungGarbage?: () => void;
  readonly collectGarbage?: () => void;
};

const ROWS_PER_COLLECTION = 1000;
const ROWS_PER_FULL_COLLECTION = 8 * ROWS_PER_COLLECTION;

/** Up to this size every version gets a base of its own, so that `previous.json` is the version before. */
const SMALL_BASE_BYTES = 1024 * 1024;

/**
 * Opens the folder of the directory. Throws where it cannot be created. Contents that do not match their digest and
 * count are never served.
 */
export function openStateFolder(folder: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return {
    load: (dependencies: RowDependencies): Loaded | { readonly problems: readonly Failure[] } =>
      load(folder, dependencies),
    /**
     * Writes the changes of a new state, and its base where one is due; returns the state. Nothing is committed yet.
     */
    stage: (state: StoredState, contents: Contents, changes: readonly Change[], bytesMax: number) =>
      stage(folder, state, contents, changes, bytesMax),
    /** Commits a state whose files are there. */
    commit(state: StoredState, contents: Pick<Contents, "quarantine">, hasNewBase: boolean): void {
      writeQuarantine(folder, contents);
      writeState(folder, state, hasNewBase);
      removeUnused(folder);
    },
    /** Writes the state alone, where no listing has changed. */
    touch(state: StoredState, contents: Pick<Contents, "quarantine">): void {
      writeQuarantine(folder, contents);
      writeState(folder, state, false);
    },
    /** Returns the current state, or null where it is missing or cannot be read. */
    stored(): StoredState | null {
      try {
        return readState(join(folder, "current.json"));
      } catch {
        return null;
      }
    },
    /** Returns the contents of a state whose files are there. `known` are rows from which its log continues. */
    contentsOf: (state: StoredState, dependencies: RowDependencies, known: KnownRows | null): Contents =>
      loadContents(folder, state, dependencies, known),
  };
}

export type Staged = { readonly state: StoredState; readonly hasNewBase: boolean };

/** Listings as of a position in the log. */
export type KnownRows = { readonly rows: Rows; readonly seq: number };

export type StateFolder = ReturnType<typeof openStateFolder>;

function load(
  folder: string,
  dependencies: RowDependencies,
): Loaded | { readonly problems: readonly Failure[] } {
  const problems: Failure[] = [];
  for (const file of ["current.json", "previous.json"]) {
    try {
      const state = readState(join(folder, file));
      if (state === null) continue;
      const contents = loadContents(folder, state, dependencies);
      return { state, contents, isPrevious: problems.length > 0, problems };
    } catch (error) {
      problems.push(damageOf(file, error));
    }
  }
  return { problems };
}

function loadContents(
  folder: string,
  state: StoredState,
  dependencies: RowDependencies,
  known: KnownRows | null = null,
): Contents {
  const rows = new Map<string, Row>(known?.rows);
  /** Not the size of the map, which stays the same while known rows change. */
  let read = 0;
  const put = (listing: Listing): void => {
    const changedAt = listing.evidence.pay_to_changed_at ?? null;
    const row = createRow(listing, changedAt, rows.get(listing.host), dependencies);
    rows.set(row.host, row);
    read += 1;
    if (read % ROWS_PER_FULL_COLLECTION === 0) dependencies.collectGarbage?.();
    else if (read % ROWS_PER_COLLECTION === 0) dependencies.collectYoungGarbage?.();
  };
  if (known === null) {
    const path = join(folder, state.base.file);
    const { size } = statSync(path);
    if (sha256OfFile(path, size) !== state.base.digest) {
      throw new Error(`the digest of ${state.base.file} does not match`);
    }
    for (const line of linesOfFile(path, 0, size, () => {})) put(JSON.parse(line) as Listing);
  }
  for (const line of linesAfter(folder, state.log, known?.seq ?? state.base.seq)) {
    const change = JSON.parse(line) as { op: string; host: string; listing?: Listing };
    if (change.listing === undefined) rows.delete(change.host);
    else put(change.listing);
  }
  dependencies.writer.finish();
  if (rows.size !== state.count) throw new Error(`${rows.size} listings instead of ${state.count}`);
  if (digestOf(sortedByHost(rows.values())) !== state.digest) throw new Error("the listings' digest differs");
  return { rows, ...exclusionsOf(state) };
}

/** Makes the files of a new state durable: changes first, then the base where one is due. */
function stage(
  folder: string,
  state: StoredState,
  contents: Contents,
  changes: readonly Change[],
  logBytesMax: number,
): Staged {
  const { syncedAt: now } = state;
  const appended = appendChanges(folder, state.log, changes, {
    epoch: state.epoch,
    lastSeq: state.seq - changes.length,
    now,
  });
  const log = retainedFiles(appended, now, logBytesMax);
  syncFolder(folder);
  const base = isBaseDue(state, appended, log) ? writeBase(folder, state, contents.rows) : state.base;
  return { state: { ...state, base, log }, hasNewBase: base !== state.base };
}

/**
 * Returns whether a new base is due. A large one is written once the changes since the last are half as large, which
 * bounds the work of the next start.
 */
function isBaseDue(state: StoredState, appended: readonly LogFile[], log: readonly LogFile[]): boolean {
  if (state.base.file === "" || state.base.bytes <= SMALL_BASE_BYTES) return true;
  if (appended.some((file) => !log.includes(file) && file.lastSeq > state.base.seq)) return true;
  let replayed = 0;
  for (const file of log) {
    const lines = file.lastSeq - file.firstSeq + 1;
    const needed = Math.min(lines, file.lastSeq - state.base.seq);
    if (needed > 0) replayed += (file.bytes * needed) / lines;
  }
  return replayed > state.base.bytes / 2;
}

function writeBase(folder: string, state: StoredState, rows: Rows): StoredState["base"] {
  const file = `base-${state.version}.ndjson`;
  const bytes = writeDurably(join(folder, file), (writer) => {
    for (const row of sortedByHost(rows.values())) {
      writer.putText(row);
      writer.put("\n");
    }
  });
  return { file, seq: state.seq, digest: state.digest, bytes };
}

/** Writes the quarantined records, for the operator. */
function writeQuarantine(folder: string, contents: Pick<Contents, "quarantine">): void {
  writeDurably(join(folder, "quarantine.ndjson"), (writer) => {
    for (const { host, reason, firstSeen, record } of contents.quarantine.values()) {
      writer.put(`${JSON.stringify({ host, reason, first_seen: firstSeen, record })}\n`);
    }
  });
}

/** Deletes files that neither the current nor the previous state uses. */
function removeUnused(folder: string): void {
  const states = ["current.json", "previous.json"].map(
    (file) => readText(join(folder, file))?.toString() ?? "",
  );
  for (const file of readdirSync(folder)) {
    if (!/^(base|changes)-[\w-]+\.ndjson(\.tmp)?$/.test(file)) continue;
    if (!states.some((state) => state.includes(`"${file}"`))) removeFile(join(folder, file));
  }
}

/** Returns the SHA-256 in hex of the first bytes of a file. */
export function sha256OfFile(path: string, bytes: number): string {
  const hash = createHash("sha256");
  for (const chunk of chunksOfFile(path, 0, bytes)) hash.update(chunk);
  return hash.digest("hex");
}
