import { createBodyChunker } from "../../src/batch/body-chunker.ts";
import type { VerifyTask } from "../../src/batch/messages.ts";
import { createChunkBodyTask } from "../../src/batch/thread-tasks.ts";
import { createVerdictCache } from "../../src/batch/verdict-cache.ts";
import { createAddressVerifier } from "../../src/verification/email/verification.ts";

/** Results go back as objects, which the main thread then has to write down: for comparison with bytes. */

const verify = createAddressVerifier();
const domainVerdictsOf = createVerdictCache();

export const chunkBody = createChunkBodyTask(createBodyChunker());
export const verifyChunk = (task: VerifyTask) => {
  const addresses: readonly string[] = JSON.parse(task.items);
  const domainVerdictAt = domainVerdictsOf(task);
  const results = addresses.map((address, position) => verify(address, domainVerdictAt(position)));
  const counts: { [status: string]: number } = {};
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1;
  return { results, counts, chargeable: results.length };
};
