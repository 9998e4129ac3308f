import { PART_BYTES_MAX } from "../../../contract/words.ts";

/** An upload in parts that the tab remembers across a reload: the parts on the server, never the rows. */
export type KeptUpload = {
  readonly jobId: string;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  readonly partBytes: number;
  /** SHA-256 of each part that the server has, in base64; empty where the browser cannot compute it. */
  readonly parts: readonly string[];
};

const NAME = "assay-upload";
const SMALL_FILE_BYTES = 67_108_864;
const SMALL_PART_BYTES = 1_048_576;

export function readKept(storage: Storage): KeptUpload | null {
  const text = storage.getItem(NAME);
  if (text === null) return null;
  try {
    const kept: KeptUpload = JSON.parse(text);
    return kept;
  } catch {
    return null;
  }
}

export function writeKept(storage: Storage, kept: KeptUpload | null): void {
  if (kept === null) storage.removeItem(NAME);
  else storage.setItem(NAME, JSON.stringify(kept));
}

/** Parts of a megabyte; of large files a sixty-fourth, at most what the server takes. */
export function partBytesOf(size: number): number {
  if (size <= SMALL_FILE_BYTES) return SMALL_PART_BYTES;
  return Math.min(PART_BYTES_MAX, Math.ceil(size / 64));
}

export function partCountOf({ size, partBytes }: Pick<KeptUpload, "size" | "partBytes">): number {
  return Math.max(1, Math.ceil(size / partBytes));
}

/** Whether the server has all parts. */
export function isSent(kept: KeptUpload): boolean {
  return kept.parts.length >= partCountOf(kept);
}

export function isSameFile(kept: KeptUpload, file: File): boolean {
  return kept.name === file.name && kept.size === file.size && kept.lastModified === file.lastModified;
}

/** Returns the SHA-256 in base64; empty where the page is not a secure context. */
export async function digestOf(part: Blob): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) return "";
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await part.arrayBuffer()));
  return btoa(String.fromCharCode(...hash));
}
