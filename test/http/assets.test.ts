import { expect, test } from "bun:test";
import { createAssets } from "../../src/http/assets.ts";
import type { Call } from "../../src/http/call.ts";
import { until } from "../support/caller.ts";
import { openStalled, requestText } from "../support/raw-http.ts";

const READERS = 32;
const MEGABYTE = 1_048_576;
const FILE = new Uint8Array(8 * MEGABYTE).fill(0x61);

test("readers of a page's file who stop reading have no copy of it each", async () => {
  const asset = createAssets("default-src 'none'")("text/javascript", async () => FILE);
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { body, headers } = await asset({ request } as Call);
      return new Response(body, { headers: headers ?? {} });
    },
  });
  expect((await (await fetch(server.url)).bytes()).byteLength).toBe(FILE.byteLength);
  Bun.gc(true);
  const beforeBytes = process.memoryUsage.rss();
  using readers = new DisposableStack();
  const stalled = Array.from({ length: READERS }, () =>
    readers.use(openStalled(server.url.href, requestText("/"), 1)),
  );
  await until("beginning of each reply", () => stalled.every((reader) => reader.bytes() > 0));
  // Each copy would be 8 MB.
  expect((process.memoryUsage.rss() - beforeBytes) / MEGABYTE).toBeLessThan(READERS * 2);
});
