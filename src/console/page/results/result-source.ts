import type { Api } from "../wire/api.ts";
import type { ResultRow } from "../wire/bodies.ts";
import { unbroken } from "../wire/refusal.ts";

/** Reads any range of rows of a finished list by byte ranges, with a small cache. */
export type ResultSource = {
  /** Returns the results of the rows from `first` on, both counted from 1. */
  readonly rows: (first: number, count: number, signal: AbortSignal) => Promise<readonly ResultRow[]>;
  /** Returns a sample of results from `parts` evenly spread positions, or all of a short list. */
  readonly sample: (parts: number, signal: AbortSignal) => Promise<readonly ResultRow[]>;
};

/** A known start of a line: its row, its byte. */
type Anchor = { readonly row: number; readonly byte: number };
type Window = { readonly first: number; readonly rows: readonly ResultRow[] };

const WINDOW_BYTES = 65_536;
const WHOLE_BYTES_MAX = 2_097_152;
const WINDOWS_KEPT = 24;
const ANCHORS_KEPT = 512;
/** Tries to locate a row by interpolation; lines differ little in length, so two or three suffice. */
const TRIES_MAX = 24;

export function createResultSource(api: Api, jobId: string, rowCount: number): ResultSource {
  const path = `/v1/jobs/${jobId}/results?format=ndjson`;
  let totalBytes = 0;
  let anchors: Anchor[] = [];
  let windows: Window[] = [];

  const addAnchor = (row: number, byte: number) => {
    const at = anchors.findIndex((anchor) => anchor.row >= row);
    if (at !== -1 && anchors[at]?.row === row) return;
    anchors.splice(at === -1 ? anchors.length : at, 0, { row, byte });
    if (anchors.length > ANCHORS_KEPT) {
      anchors = anchors.filter((_, place) => place % 2 === 0 || place === anchors.length - 1);
    }
  };

  /** Reads whole lines from a byte on; `start` may lie within a line, whose rest is skipped. */
  const readWindow = async (start: number, bytes: number, signal: AbortSignal): Promise<Window | null> => {
    const from = Math.max(0, start - 1);
    const reply = await api.open(path, {
      headers: { Accept: "application/x-ndjson", Range: `bytes=${from}-${from + bytes - 1}` },
      signal,
    });
    const total = Number(/\/(\d+)$/.exec(reply.headers.get("Content-Range") ?? "")?.[1]);
    if (Number.isFinite(total)) totalBytes = total;
    const held = new Uint8Array(await unbroken(reply.arrayBuffer()));
    let at = start === 0 ? 0 : held.indexOf(NEWLINE) + 1;
    if (start !== 0 && at === 0) return null;
    const decoder = new TextDecoder();
    const rows: ResultRow[] = [];
    let firstRow = 0;
    for (let end = held.indexOf(NEWLINE, at); end !== -1; end = held.indexOf(NEWLINE, at)) {
      const result: ResultRow = JSON.parse(decoder.decode(held.subarray(at, end)));
      if (rows.length === 0) {
        firstRow = result.row ?? 1;
        addAnchor(firstRow, from + at);
      }
      rows.push(result);
      at = end + 1;
    }
    if (rows.length === 0) return null;
    addAnchor(firstRow + rows.length, from + at);
    return { first: firstRow, rows };
  };

  const open = async (signal: AbortSignal) => {
    if (anchors.length > 0) return;
    const first = await readWindow(0, WINDOW_BYTES, signal);
    if (first !== null) windows.push(first);
    addAnchor(rowCount + 1, totalBytes);
  };

  const windowOf = async (row: number, signal: AbortSignal): Promise<Window | null> => {
    let bytes = WINDOW_BYTES;
    for (let attempt = 0; attempt < TRIES_MAX; attempt++) {
      const known = windows.find((window) => row >= window.first && row < window.first + window.rows.length);
      if (known !== undefined) {
        windows = [...windows.filter((window) => window !== known), known].slice(-WINDOWS_KEPT);
        return known;
      }
      const above = anchors.findIndex((anchor) => anchor.row > row);
      const low = anchors[(above === -1 ? anchors.length : above) - 1] ?? { row: 1, byte: 0 };
      const high = anchors[above] ?? { row: rowCount + 1, byte: totalBytes };
      const share = (row - low.row) / Math.max(1, high.row - low.row);
      const guess = low.byte + Math.floor((high.byte - low.byte) * share);
      // A quarter of the window lies before the guess, so that a line that begins a little earlier is met.
      const start = attempt % 4 === 3 ? low.byte : Math.max(low.byte, guess - Math.floor(bytes / 4));
      const window = await readWindow(start, bytes, signal);
      if (window === null) bytes *= 4;
      else windows.push(window);
    }
    return null;
  };

  return {
    async rows(first, count, signal) {
      await open(signal);
      const found: ResultRow[] = [];
      for (let row = first; row < first + count && row <= rowCount; ) {
        const window = await windowOf(row, signal);
        if (window === null) break;
        const part = window.rows.slice(row - window.first, first + count - window.first);
        if (part.length === 0) break;
        found.push(...part);
        row += part.length;
      }
      return found;
    },
    async sample(parts, signal) {
      await open(signal);
      if (totalBytes <= WHOLE_BYTES_MAX) {
        const whole = await readWindow(0, Math.max(1, totalBytes), signal);
        return whole?.rows ?? [];
      }
      const found: ResultRow[] = [];
      for (let part = 0; part < parts; part++) {
        const start = Math.floor(((totalBytes - WINDOW_BYTES) * part) / Math.max(1, parts - 1));
        const window = await readWindow(start, WINDOW_BYTES, signal);
        found.push(...(window?.rows ?? []));
      }
      return found;
    },
  };
}

const NEWLINE = 10;
