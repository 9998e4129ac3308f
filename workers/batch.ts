import { createChunkJudge } from "../src/batch/chunk-judge.ts";
import { splitBatch } from "../src/batch/split.ts";

/** The tasks of a worker thread, by the names that the pool calls. */
export const split = splitBatch;
export const judge = createChunkJudge().judge;
export const ping = () => "pong";
