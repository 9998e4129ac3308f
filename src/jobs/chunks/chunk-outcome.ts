/** How the work on a chunk ended. */
export type ChunkOutcome = "finished" | "out_of_units";

/** A chunk has failed too often, whatever was taken of it. */
export class HopelessChunkError extends Error {
  override readonly name = "HopelessChunkError";
}
