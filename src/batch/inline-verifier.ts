import { type Answer, after } from "../platform/answer.ts";
import { ByteWriter } from "../platform/byte-writer.ts";
import { loadedOnce } from "../platform/loaded-once.ts";
import { createEmailItems } from "./email-items.ts";
import type { VerifiedChunk, VerifyTask } from "./messages.ts";
import { verifyItems } from "./verifier.ts";

/** Verifies small chunks on the main thread, as a `ChunkVerifier` does. */
export type InlineVerifier = {
  readonly verify: (task: VerifyTask) => Answer<VerifiedChunk>;
  readonly failed: (task: VerifyTask) => Answer<VerifiedChunk>;
};

/** The code of documents and phone numbers is a third of all code, and loaded with the first of them. */
export function createInlineVerifier(): InlineVerifier {
  const emailItems = createEmailItems();
  const writer = new ByteWriter();
  const verifier = loadedOnce(async () => (await import("./chunk-verifier.ts")).createChunkVerifier());
  return {
    verify: (task) =>
      task.kind === "email"
        ? verifyItems(task, emailItems(task), writer)
        : after(verifier.get(), ({ verify }) => verify(task)),
    failed: (task) => after(verifier.get(), ({ failed }) => failed(task)),
  };
}
