import { expect, test } from "bun:test";
import { createBodyReader } from "../../src/http/request-body.ts";

const BYTES = 200_000;

test("a body that is disposed of no longer counts, and holds no memory for whoever still holds it", async () => {
  const bodies = createBodyReader({ bytesMax: 1_000_000, heldBytesMax: 1_000_000 });
  for (const headers of [{ "Content-Length": `${BYTES}` }, {}]) {
    const request = new Request("http://localhost/", { method: "POST", headers, body: "x".repeat(BYTES) });
    const held = await bodies.read(request);
    expect([held.bytes.length, bodies.heldBytes()]).toEqual([BYTES, BYTES]);
    held[Symbol.dispose]();
    held[Symbol.dispose]();
    expect([held.bytes.length, bodies.heldBytes()]).toEqual([0, 0]);
  }
});
