import { expect, test } from "bun:test";
import type { Call } from "../../src/http/call.ts";
import { answerExport, createExportPlaces } from "../../src/http/routes/directory-export.ts";
import { syncedPair } from "../support/synced-directory.ts";

/** Larger than what connections hold at once. */
const PACKED = new Uint8Array(1_000_000).map((_, at) => at % 251);

/** Answers exports of a directory, whose compressed form is `PACKED`. */
async function exporting(readerStallMs = 60_000) {
  const pair = await syncedPair();
  const { outcome } = pair.held;
  if (outcome.kind !== "changed") throw new Error("nothing was synced");
  const { snapshot } = outcome.published;
  const view = { snapshot, feed: snapshot.feed, syncedAt: 0, ageSeconds: 0, stale: false, quarantined: 0 };
  const enter = createExportPlaces();
  const directory = { compressed: async () => PACKED };
  return {
    async answer(options: RequestInit & { readonly address?: string } = {}) {
      const ended = Promise.withResolvers<string | undefined>();
      const call: Partial<Call> = {
        request: new Request("http://localhost/v1/directory/export", options),
        clientAddress: () => options.address ?? "192.0.2.1",
        finish: (_, as) => ended.resolve(as),
        reportError: (error) => ended.reject(error),
      };
      const reply = await answerExport(call as Call, view as never, { directory, readerStallMs, enter });
      return { ...reply, ended: ended.promise };
    },
    [Symbol.dispose]: pair[Symbol.dispose],
  };
}

function streamOf({ body }: { readonly body: unknown }): ReadableStream<Uint8Array> {
  if (!(body instanceof ReadableStream)) throw new Error("The export is no stream");
  return body;
}

const GZIP = { headers: { "Accept-Encoding": "gzip" } };

test("a client that reads nothing of the export is disconnected after the time that is set", async () => {
  using directory = await exporting(20);
  for (const options of [{}, GZIP]) {
    const reply = await directory.answer(options);
    const reader = streamOf(reply).getReader();
    await reader.read();
    expect(await reply.ended).toBe("cut");
    await expect(reader.read()).rejects.toThrow("The reader stalled");
  }
});

test.each([
  ["plain", {}],
  ["compressed", GZIP],
])(
  "a client address has its share of readers of the %s export, until they have read it or leave",
  async (_, options) => {
    using directory = await exporting();
    const open = async (address: string) => streamOf(await directory.answer({ ...options, address }));
    const [first, second, ...rest] = await Promise.all(Array.from({ length: 64 }, () => open("192.0.2.1")));
    await expect(open("192.0.2.1")).rejects.toMatchObject({ code: "overloaded", retryAfterSeconds: 1 });
    const others = [await open("192.0.2.2"), await open("2001:db8::1")];
    await new Response(first ?? null).bytes();
    await second?.cancel();
    await others.pop()?.cancel();
    await others.pop()?.cancel();
    rest.push(await open("192.0.2.1"), await open("192.0.2.1"));
    await expect(open("192.0.2.1")).rejects.toMatchObject({ code: "overloaded" });
    // What sends no body needs no place.
    for (const method of ["HEAD", "GET"]) {
      const more = method === "HEAD" ? {} : { "If-None-Match": "*" };
      const headers = { ...("headers" in options ? options.headers : {}), ...more };
      const { status, body } = await directory.answer({ method, headers });
      expect([status, body]).toEqual([method === "HEAD" ? 200 : 304, null]);
    }
    await Promise.all(rest.map((stream) => stream.cancel()));
  },
);

test("all readers of the compressed export are sent the same memory", async () => {
  using directory = await exporting();
  const parts = await Array.fromAsync(streamOf(await directory.answer(GZIP)));
  expect(Buffer.concat(parts).equals(PACKED)).toBe(true);
  expect(new Set(parts.map(({ buffer }) => buffer))).toEqual(new Set([PACKED.buffer]));
});
