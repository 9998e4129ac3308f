import { expect, test } from "bun:test";
import { withinSilence } from "../../src/http/bodies/silence.ts";

test("a body whose caller is silent is aborted, one whose chunks take long to process is not", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  async function* body(): AsyncGenerator<Uint8Array, void, undefined> {
    yield new Uint8Array([1]);
    yield new Uint8Array([2]);
    await never;
  }
  const parts = withinSilence(body(), 50);
  expect((await parts.next()).value).toEqual(new Uint8Array([1]));
  const working = performance.now() + 100;
  while (performance.now() < working);
  expect((await parts.next()).value).toEqual(new Uint8Array([2]));
  await expect(parts.next()).rejects.toMatchObject({
    code: "invalid_request",
    message: "Nothing of the body arrived for 0.05 seconds.",
  });
});

test("a body that ends or fails by itself is passed through", async () => {
  async function* failing(): AsyncGenerator<Uint8Array, void, undefined> {
    yield new Uint8Array([1]);
    throw new Error("cut off");
  }
  const parts = withinSilence(failing(), 1_000);
  await parts.next();
  await expect(parts.next()).rejects.toThrow("cut off");
  async function* empty(): AsyncGenerator<Uint8Array, void, undefined> {}
  expect(await withinSilence(empty(), 1_000).next()).toEqual({ done: true, value: undefined });
});
