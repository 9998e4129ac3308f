import { open, stat } from "node:fs/promises";
import type { Contents, Draft } from "../sync/contents.ts";
import { createFullDraft } from "../sync/draft.ts";
import type { DraftDependencies } from "../sync/draft-rows.ts";
import { createRowSplitter, type Envelope, type RowLimits } from "./row-splitter.ts";
import { UpstreamError } from "./upstream-limits.ts";

/** Where the listings come from, and how that place was left the last time. */
export type Source = {
  /** Distinguishes one source from another over restarts. */
  readonly name: string;
  /** Throws UpstreamError or FormatError where nothing can be taken. */
  readonly read: (
    memory: UpstreamMemory | null,
    base: Contents,
    dependencies: DraftDependencies,
  ) => Promise<Intake>;
};

/** What must be known of an upstream to go on from where the last sync ended. */
export type UpstreamMemory = {
  readonly epoch: string | null;
  /** The highest version seen in this epoch. */
  readonly version: number | null;
  /** What the upstream said outright of the time of its export. */
  readonly generatedAt: number | null;
  /** Where to go on in the change feed; null where the upstream has none. */
  readonly cursor: string | null;
  /** The last change applied; null where none was since the export. */
  readonly lastSeq: number | null;
  /** Of the empty page at the cursor. */
  readonly feedEtag: string | null;
  /** Of the export that the present contents are equal to; null once changes were applied. */
  readonly exportEtag: string | null;
  readonly exportedAt: number;
  /** The upstream's count less ours at the time of the export: it must stay so. */
  readonly countOffset: number | null;
};

export type Intake = {
  /** Null where the upstream says that nothing is new. */
  readonly draft: Draft | null;
  /** To be remembered if the draft is taken over. */
  readonly memory: UpstreamMemory;
  /** Of the state that is offered; null where the source does not say. */
  readonly version: number | null;
  /** When it was made: said outright, or counted back from its age. */
  readonly generatedAt: number | null;
  /** Whether version and time can be compared with the remembered ones. */
  readonly isSameEpoch: boolean;
  /** How old the upstream says its listings are. */
  readonly ageMs: number;
};

const COLLECTION_BYTES = 512 * 1024;
const YOUNG_PER_FULL = 6;

export const ROW_LIMITS: RowLimits = { rowBytesMax: 65_536, rowsMax: 200_000 };

/** Reads a whole body into a draft. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  base: Contents,
  dependencies: DraftDependencies,
  limits: RowLimits,
  see: (chunk: Uint8Array) => void = () => {},
): Promise<{ readonly draft: Draft; readonly envelope: Envelope; readonly rows: number }> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const draft = createFullDraft(base, dependencies);
  let rows = 0;
  const splitter = createRowSplitter(limits, (row) => {
    rows += 1;
    draft.take(row === null ? null : decode(decoder, row));
  });
  let bytes = 0;
  let collections = 0;
  for await (const chunk of body) {
    see(chunk);
    splitter.push(chunk);
    bytes += chunk.length;
    if (bytes < COLLECTION_BYTES) continue;
    bytes = 0;
    collections += 1;
    if (collections % YOUNG_PER_FULL === 0) dependencies.collectGarbage?.();
    else dependencies.collectYoungGarbage?.();
  }
  const envelope = splitter.end();
  return { draft: draft.finish(), envelope, rows };
}

/** Bytes that are no UTF-8 become a record that is no JSON: it is quarantined like one. */
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

/** Listings that came with the program. */
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

/** A file of the operator's, read again when its time or size has changed. */
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

/** Counts hosts as the upstream does: those held, and those that are kept out. */
export function countOf(contents: Contents): number {
  let count = contents.rows.size;
  for (const key of contents.quarantine.keys()) if (!contents.rows.has(key)) count += 1;
  return count;
}
