import { expect, test } from "bun:test";
import type { Directory } from "../../src/directory/directory.ts";
import type { Call } from "../../src/http/call.ts";
import { answerExport } from "../../src/http/routes/directory-export.ts";
import { syncedPair } from "../support/synced-directory.ts";

const REQUEST = new Request("http://localhost/v1/directory/export");

test("a client that reads nothing of the export is disconnected after the time that is set", async () => {
  using pair = await syncedPair();
  const { outcome } = pair.held;
  if (outcome.kind !== "changed") throw new Error("nothing was synced");
  const { snapshot } = outcome.published;
  const view = { snapshot, feed: snapshot.feed, syncedAt: 0, ageSeconds: 0, stale: false, quarantined: 0 };
  const ended = Promise.withResolvers<string | undefined>();
  const call: Partial<Call> = {
    request: REQUEST,
    finish: (_, as) => ended.resolve(as),
    reportError: (error) => ended.reject(error),
  };
  const directory: Partial<Directory> = {};
  // Of these two it takes no more, as nothing is asked for compressed.
  const { body } = await answerExport(call as Call, view as never, {
    directory: directory as Directory,
    readerStallMs: 20,
  });
  if (!(body instanceof ReadableStream)) throw new Error("The export is no stream");
  const reader = body.getReader();
  await reader.read();
  expect(await ended.promise).toBe("cut");
  await expect(reader.read()).rejects.toThrow("The reader stalled");
});
