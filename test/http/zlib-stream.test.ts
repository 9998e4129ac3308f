import { expect, test } from "bun:test";
import { compressed } from "../../src/http/compression.ts";

/** A stream that notes what its reader does, and whose parts are those that come. */
function watchedStream(parts: readonly string[]) {
  const seen: string[] = [];
  const waiting = Promise.withResolvers<void>();
  const left = parts.values();
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = left.next();
        if (value === undefined) await waiting.promise;
        else controller.enqueue(Buffer.from(value));
      },
      cancel() {
        seen.push("cancelled");
        waiting.resolve();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, seen };
}

async function packed(body: ReadableStream<Uint8Array>, encoding: string) {
  const request = new Request("http://localhost/", { headers: { "accept-encoding": encoding } });
  const reply = await compressed({ status: 200, body }, request);
  if (!(reply.body instanceof ReadableStream)) throw new Error("not a stream");
  return { body: reply.body as ReadableStream<Uint8Array>, headers: reply.headers };
}

for (const encoding of ["gzip", "zstd"]) {
  test(`a ${encoding} stream whose reader leaves before the first part cancels its source`, async () => {
    const { stream, seen } = watchedStream([]);
    const { body, headers } = await packed(stream, encoding);
    expect(headers).toMatchObject({ "Content-Encoding": encoding });
    await body.cancel();
    expect(seen).toEqual(["cancelled"]);
  });

  test(`a ${encoding} stream whose reader leaves between two parts cancels its source at once`, async () => {
    const { stream, seen } = watchedStream(["one"]);
    const reader = (await packed(stream, encoding)).body.getReader();
    expect((await reader.read()).done).toBe(false);
    const next = reader.read();
    await reader.cancel();
    expect([seen, (await next).done]).toEqual([["cancelled"], true]);
  });
}
