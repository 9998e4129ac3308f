import type { ReadReport, ReadRequest } from "./messages.ts";
import { readList } from "./read-list.ts";

/** The worker that reads a list: previews it and counts its rows while the page stays responsive. */
self.addEventListener("message", ({ data }: MessageEvent<ReadRequest>) => {
  const report = (message: ReadReport) => self.postMessage(message);
  readList(data, report).catch((error: unknown) => {
    report({ type: "failed", message: error instanceof Error ? error.message : "The file cannot be read." });
  });
});
