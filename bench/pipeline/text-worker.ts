import { createBodyChunker } from "../../src/batch/body-chunker.ts";
import { createChunkVerifier } from "../../src/batch/chunk-verifier.ts";
import type { VerifyTask } from "../../src/batch/messages.ts";
import { createChunkBodyTask } from "../../src/batch/thread-tasks.ts";

/** Results go back as text that is copied, for comparison with bytes that change hands. */

const { verify } = createChunkVerifier();
const decoder = new TextDecoder();

export const chunkBody = createChunkBodyTask(createBodyChunker());
export const verifyChunk = (task: VerifyTask) => {
  const { bytes, ...outcome } = verify(task);
  return { ...outcome, text: decoder.decode(bytes) };
};
