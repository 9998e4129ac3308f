import { expect, setDefaultTimeout, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { openInferenceWorld } from "../support/inference-service.ts";

setDefaultTimeout(30_000);

const BODY_BYTES = 4_000_000;

// Bodies are inflated outside the main thread: beside other tests one may wait for a core while the others have theirs.
test("a body that inflates waits for one part of another caller's at a time, however many that one sends", async () => {
  await using world = await openInferenceWorld({ TRUST_PROXY: "true" });
  const body = gzipSync(Buffer.alloc(BODY_BYTES, " "));
  const ended: string[] = [];
  const inflate = async (address: string) => {
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    const init = { method: "POST", headers: { ...headers, "X-Forwarded-For": address }, body };
    const { status } = await fetch(`${world.url}/v1/chat/completions`, init);
    ended.push(address);
    expect(status).toBe(400);
  };
  const many = Array.from({ length: 4 }, () => inflate("192.0.2.1"));
  await Promise.all([...many, inflate("192.0.2.2")]);
  expect(ended[0]).toBe("192.0.2.2");
});
