import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createUpstreams } from "../../src/inference/upstreams.ts";
import { systemAddressLookup } from "../../src/net/address-lookup.ts";
import { connectDirectly } from "../../src/net/direct-connection.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { atOnce } from "../../src/platform/steps.ts";
import { until } from "../support/caller.ts";
import { testClock } from "../support/directory.ts";

setDefaultTimeout(60_000);

/** An upstream that never lists its models, and whose chats fail until they do not. */
let chats = 0;
let isWell = false;
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  fetch(request) {
    if (request.url.endsWith("/models")) return new Promise<Response>(() => {});
    chats += 1;
    return isWell
      ? Response.json({ choices: [{ index: 0, message: { role: "assistant", content: "Hello" } }] })
      : new Response("", { status: 500 });
  },
});
afterAll(() => upstream.stop(true));

test("one that replies to no question is called by one call a while, and by all once that is answered", async () => {
  const clock = testClock();
  const client = createHttpClient(
    { lookUp: systemAddressLookup, clock: systemClock, connect: connectDirectly },
    { allowPrivate: true, ports: "any" },
  );
  await using upstreams = createUpstreams([{ baseUrl: `${upstream.url.origin}/v1`, apiKey: null }], {
    client,
    clock,
    answerBytesMax: 1000,
    step: atOnce,
    report: () => {},
  });
  const ask = () =>
    upstreams.ask({ body: "{}", isStream: false, signal: new AbortController().signal }).then(
      ({ kind }) => kind,
      ({ code }) => code,
    );
  for (let failed = 0; failed < 5; failed += 1) expect(await ask()).toBe("upstream_failed");
  await until(
    "silence",
    async () => {
      const before = chats;
      expect(await ask()).toBe("upstream_failed");
      return chats === before;
    },
    20_000,
  );
  isWell = true;
  const silentChats = chats;
  expect([await ask(), chats]).toEqual(["upstream_failed", silentChats]);
  clock.advance(5000);
  expect([await ask(), await ask(), chats]).toEqual(["answer", "answer", silentChats + 2]);
});
