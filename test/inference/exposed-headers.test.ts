import { expect, setDefaultTimeout, test } from "bun:test";
import { openInferenceWorld } from "../support/inference-service.ts";

/** What pages of other origins may read of a paid service. */

setDefaultTimeout(30_000);

const CHAT = "/v1/chat/completions";
const BODY = { model: "made-up-1", messages: [{ role: "user", content: "hi" }] };

/** What every page may read, and what is for browsers and connections alone. */
const NOT_TO_BE_NAMED =
  /^(access-control-.*|cache-control|content-(length|type|encoding)|date|vary|connection|transfer-encoding|x-accel-buffering|x-content-type-options)$/;

test("pages of other origins may read each header of what a paid route answers", async () => {
  await using world = await openInferenceWorld();
  const faultOf = (path: string): Response => {
    if (path === "verify") return Response.json({ isValid: true });
    return path === "settle" ? new Response("boom", { status: 500 }) : Response.json({ kinds: [] });
  };
  const refused = await fetch(`${world.url}${CHAT}`, { method: "POST" });
  const answered = [
    refused,
    await world.pay(CHAT, BODY),
    await world.pay(CHAT, { ...BODY, stream: true }),
    await world.pay(CHAT, { model: 7 }),
  ];
  world.facilitator.setFault(faultOf);
  answered.push(await world.pay(CHAT, BODY));
  expect(answered.map(({ status }) => status)).toEqual([402, 200, 200, 400, 503]);
  expect(answered.at(-1)?.headers.get("x-should-retry")).toBe("false");
  for (const { status, headers, body } of answered) {
    const exposed = new Set(headers.get("Access-Control-Expose-Headers")?.toLowerCase().split(", "));
    const hidden = [...headers.keys()].filter((name) => !NOT_TO_BE_NAMED.test(name) && !exposed.has(name));
    expect([status, hidden]).toEqual([status, []]);
    await body?.cancel();
  }
});
