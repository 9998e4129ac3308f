import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type AttackBody, emptyBodies, singleItemBodies } from "../support/attack-bodies.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf } from "../support/server.ts";
import { type SharedServer, startSharedServer, strainOf } from "../support/tenants.ts";

setDefaultTimeout(120_000);

const BODY_BYTES = 33_000_000;
/** The runtime alone takes up to 8 ms to receive such a body, and to free it: what is done with it adds nothing. */
const TURN_MS_MAX = 12;
const HEALTHZ_MS_MAX = 150;
const RSS_BYTES_MAX = 1_200_000_000;
/** What is shown of an item over every limit: characters, and each may be escaped. */
const REPLY_BYTES_MAX = 131_072 * 6 + 4096;

let shared: SharedServer;
let key: string;

beforeAll(async () => {
  shared = await startSharedServer("large-items");
  // The plan with the largest bodies.
  key = await shared.caller.signUp("scale");
  // Its threads have read their code before anything is measured.
  const emails = Array.from({ length: 2000 }, (_, at) => `a${at}@good.com`);
  await (await shared.caller.call("/v1/email/batch", { key, body: { emails } })).arrayBuffer();
});

afterAll(async () => {
  await shared[Symbol.asyncDispose]();
});

async function send({ path, type, body }: AttackBody): Promise<Response> {
  // With a key the body is hashed and its reply kept, besides all else.
  const headers = { "Content-Type": type, "Idempotency-Key": crypto.randomUUID() };
  return await shared.caller.call(path, { key, body, headers });
}

const ROUNDS = 3;

/** Measures up to three times, as what else the machine does can only lengthen a wait; memory is bounded in each. */
async function expectUnhurt(name: string, work: () => Promise<void>): Promise<void> {
  let isUnhurt = false;
  for (let round = 0; round < ROUNDS && !isUnhurt; round += 1) {
    const { healthzMs, turnMs, rssBytes } = await strainOf(shared, work);
    const rssMb = Math.round(rssBytes / 1e6);
    process.stdout.write(
      `${name}: /healthz at most ${healthzMs.toFixed(0)} ms, turn at most ${turnMs.toFixed(0)} ms, ${rssMb} MB\n`,
    );
    expect(rssBytes).toBeLessThan(RSS_BYTES_MAX);
    isUnhurt = turnMs < TURN_MS_MAX && healthzMs < HEALTHZ_MS_MAX;
  }
  expect(isUnhurt).toBeTrue();
}

type Body = {
  readonly count: number;
  readonly results: readonly { readonly [field: string]: unknown }[];
  readonly summary: { readonly units_charged: number };
};

const REFUSALS: { readonly [path: string]: { readonly [field: string]: unknown } } = {
  "/v1/email/batch": { sub_status: "invalid_syntax", reasons: ["address_too_long"] },
  "/v1/identity/batch": { reason: "length" },
  "/v1/phone/batch": { reason: "too_long" },
};

describe("an item of 33 MB is refused at the cost of reading past it", () => {
  for (const body of singleItemBodies(BODY_BYTES)) {
    test(body.name, async () => {
      await expectUnhurt(body.name, async () => {
        const reply = await send(body);
        expect(reply.status).toBe(200);
        const text = await reply.text();
        expect(text.length).toBeLessThan(REPLY_BYTES_MAX);
        const { count, results, summary }: Body = JSON.parse(text);
        expect([count, results.length, summary.units_charged]).toEqual([1, 1, 1]);
        expect(results[0]).toMatchObject(REFUSALS[body.path] ?? {});
      });
    });
  }
});

describe("a body of 33 MB that holds no item, or millions, holds nobody up", () => {
  for (const body of emptyBodies(BODY_BYTES)) {
    test(body.name, async () => {
      await expectUnhurt(body.name, async () => {
        const reply = await send(body);
        if (reply.status === 200) expect((await jsonOf<Body>(reply)).count).toBe(0);
        else expect(await refusalOf(reply)).toMatch(/^400 (?:invalid_json|invalid_request|batch_too_large)$/);
      });
    });
  }
});
