import { createBodyChunker } from "../../src/batch/body-chunker.ts";
import type { VerifiedChunk, VerifyTask } from "../../src/batch/messages.ts";
import { createChunkBodyTask, createVerifyChunkTask } from "../../src/batch/thread-tasks.ts";

/** The tasks of workers/batch.ts with a verifier that verifies nothing: every result is one text of a given size. */

const size = Number(process.env.BENCH_RESULT_BYTES ?? 300);
const json = JSON.stringify({ email: "", padding: "" });
const result = json.replace(/"}$/, `${"x".repeat(size - json.length)}"}`);

export const chunkBody = createChunkBodyTask(createBodyChunker());
export const ping = () => "pong";
export const verifyChunk = createVerifyChunkTask(verifyNothing);

/** Reads the items as a verifier has to, and duplicates the text for each of them. */
function verifyNothing({ items, duplicates, separator, continues }: VerifyTask): VerifiedChunk {
  const { length }: readonly unknown[] = JSON.parse(items);
  const text = new Array(length).fill(result).join(separator);
  const bytes = new TextEncoder().encode(continues ? separator + text : text);
  return { bytes, counts: { deliverable: length }, chargeable: length - duplicates.length, failures: 0 };
}
