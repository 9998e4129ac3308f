import { expect, test } from "bun:test";
import { byteStream } from "../../src/http/byte-stream.ts";

const part = new Uint8Array(10);

function followed(source: AsyncGenerator<Uint8Array, void, undefined>) {
  const heard: string[] = [];
  const stream = byteStream(source, {
    stallMs: 10_000,
    onEnd: (complete) => heard.push(complete ? "complete" : "cut"),
    onError: (error) => heard.push(`failed: ${error}`),
  });
  return { reader: stream.getReader(), heard };
}

test("a stream that is read to its end is complete", async () => {
  const { reader, heard } = followed(
    (async function* () {
      yield part;
    })(),
  );
  expect((await reader.read()).value).toBe(part);
  expect((await reader.read()).done).toBe(true);
  expect(heard).toEqual(["complete"]);
});

/** What is heard where the reader leaves while the next part is being made, and then that fails. */
async function heardOfLeaving(failure: Error): Promise<string[]> {
  const making = Promise.withResolvers<void>();
  const { reader, heard } = followed(
    (async function* () {
      yield part;
      await making.promise;
      throw failure;
    })(),
  );
  await reader.read();
  const next = reader.read();
  await Bun.sleep(0);
  const leaving = reader.cancel();
  making.resolve();
  await Promise.all([next, leaving]);
  return heard;
}

test("a reader who leaves while the next part is being made cuts the stream, and nothing has failed", async () => {
  expect(await heardOfLeaving(new DOMException("called off", "AbortError"))).toEqual(["cut"]);
});

test("what fails otherwise while the reader leaves is reported all the same", async () => {
  expect(await heardOfLeaving(new TypeError("a bug"))).toEqual(["cut", "failed: TypeError: a bug"]);
});

test("a source that fails breaks the stream off, and says why once", async () => {
  const { reader, heard } = followed(
    // biome-ignore lint/correctness/useYield: it fails before it makes anything
    (async function* () {
      throw new Error("no more");
    })(),
  );
  await expect(reader.read()).rejects.toThrow("The source of the reply failed");
  expect(heard).toEqual(["failed: Error: no more", "cut"]);
});
