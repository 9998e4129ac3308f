import { open, stat } from "node:fs/promises";
import type { Contents, Draft } from "../sync/contents.ts";
import { createFullDraft } from "../sync/draft.ts";
import type { DraftDependencies } from "../sync/draft-rows.ts";
import { createRowSplitter, type Envelope, type RowLimits, type RowSplitter } from "./row-splitter.ts";
import { UpstreamError } from "./upstream-limits.ts";

/** A source of listings. */
export type Source = {
  /** Identifies the source across restarts. */
  readonly name: string;
  /** Reads what has changed since `memory`, or all listings. Throws UpstreamError or FormatError. */
  readonly read: (
    memory: UpstreamMemory | null,
    base: Contents,
    dependencies: DraftDependencies,
  ) => Promise<Intake>;
};

/** The position in an upstream at which the last sync ended. */
export type UpstreamMemory = {
  readonly epoch: string | null;
  /** The highest version seen in this epoch. */
  readonly version: number | null;
  /** The time of the export in ms UTC, where the upstream states one. */
  readonly generatedAt: number | null;
  /** The cursor of the change feed; null for an upstream without one. */
  readonly cursor: string | null;
  /** The sequence number of the last change applied; null without one since the export. */
  readonly lastSeq: number | null;
  /** The ETag of the empty page at the cursor. */
  readonly feedEtag: string | null;
  /** The ETag of the export that the contents are equal to; null once changes are applied. */
  readonly exportEtag: string | null;
  readonly exportedAt: number;
  /** The upstream's count minus ours at the time of the export. Another difference later is a drift. */
  readonly countOffset: number | null;
};

export type Intake = {
  /** Null where nothing has changed. */
  readonly draft: Draft | null;
  /** The position to store with the draft. */
  readonly memory: UpstreamMemory;
  /** The version of the offered state; null for a source without versions. */
  readonly version: number | null;
  /** The time of the offered state, stated or computed from its age. */
  readonly generatedAt: number | null;
  /** Whether version and time can be compared with those in memory. */
  readonly isSameEpoch: boolean;
  /** The age of the listings as the upstream states it. */
  readonly ageMs: number;
};

/** Bytes read between two garbage collections, one in six of which is a full one. */
const COLLECTION_BYTES = 512 * 1024;
const COLLECTIONS_PER_FULL = 6;

export const ROW_LIMITS: RowLimits = { rowBytesMax: 65_536, rowsMax: 200_000 };

/** Reads a body into a draft. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  base: Contents,
  dependencies: DraftDependencies,
  limits: RowLimits,
  onChunk: (chunk: Uint8Array) => void = () => {},
): Promise<{ readonly draft: Draft; readonly envelope: Envelope; readonly rows: number }> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const draft = createFullDraft(base, dependencies);
  let rows = 0;
  const splitter = createRowSplitter(limits, (row) => {
    rows += 1;
    draft.take(row === null ? null : decode(decoder, row));
  });
  const envelope = await splitBody(body, splitter, dependencies, onChunk);
  return { draft: draft.finish(), envelope, rows };
}

/** Pushes a body through a splitter, and collects the garbage that its rows leave. */
export async function splitBody(
  body: AsyncIterable<Uint8Array>,
  splitter: RowSplitter,
  dependencies: Pick<DraftDependencies, "collectYoungGarbage" | "collectGarbage">,
  onChunk: (chunk: Uint8Array) => void,
): Promise<Envelope> {
  let bytes = 0;
  let collections = 0;
  for await (const chunk of body) {
    onChunk(chunk);
    splitter.push(chunk);
    bytes += chunk.length;
    if (bytes < COLLECTION_BYTES) continue;
    bytes = 0;
    collections += 1;
    if (collections % COLLECTIONS_PER_FULL === 0) dependencies.collectGarbage?.();
    else dependencies.collectYoungGarbage?.();
  }
  return splitter.end();
}

/** Decodes a row. Invalid UTF-8 becomes a text that is not JSON, so that the record is quarantined. */
function decode(decoder: TextDecoder, row: Uint8Array): string {
  try {
    return decoder.decode(row);
  } catch {
    return `not UTF-8: ${Buffer.from(row.subarray(0, 200)).toString("latin1")}`;
  }
}

export const NO_MEMORY: UpstreamMemory = {
  epoch: null,
  version: null,
  generatedAt: null,
  cursor: null,
  lastSeq: null,
  feedEtag: null,
  exportEtag: null,
  exportedAt: 0,
  countOffset: null,
};

/** Creates the source of listings that are part of the program. */
export function createTextSource(name: string, text: string): Source {
  const etag = `${text.length}-${Bun.hash(text).toString(36)}`;
  return {
    name,
    async read(memory, base, dependencies) {
      const intake = { ...UNNUMBERED, memory: { ...NO_MEMORY, exportEtag: etag } };
      if (memory?.exportEtag === etag) return { ...intake, draft: null };
      const body = chunksOf(new TextEncoder().encode(text));
      return { ...intake, draft: (await readBody(body, base, dependencies, ROW_LIMITS)).draft };
    },
  };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Creates the source of an operator's file, which is read again when its time, size or inode changes. */
export function createFileSource(path: string): Source {
  return {
    name: `file:${path}`,
    async read(memory, base, dependencies) {
      const { mtimeMs, size, ino } = await stat(path).catch((cause) => {
        throw unreadable(path, cause);
      });
      const etag = `${mtimeMs}-${size}-${ino}`;
      const intake = { ...UNNUMBERED, memory: { ...NO_MEMORY, exportEtag: etag } };
      if (memory?.exportEtag === etag) return { ...intake, draft: null };
      const { draft } = await readBody(partsOf(path), base, dependencies, ROW_LIMITS);
      return { ...intake, draft };
    },
  };
}

async function* partsOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    await using file = await open(path);
    yield* file.createReadStream();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, cause: unknown): UpstreamError {
  return new UpstreamError(`${path} cannot be read`, { shown: "the file cannot be read", cause });
}

const UNNUMBERED = { version: null, generatedAt: null, isSameEpoch: true, ageMs: 0 } as const;

/** Counts hosts as the upstream does: listed ones, and quarantined ones that are not listed. */
export function countOf(contents: Contents): number {
  let count = contents.rows.size;
  for (const key of contents.quarantine.keys()) if (!contents.rows.has(key)) count += 1;
  return count;
}
