import { expect, test } from "bun:test";
import { until } from "../support/caller.ts";
import { openStalled, requestText } from "../support/raw-http.ts";
import { refusalOf, startFileServer } from "../support/server.ts";

const server = await startFileServer({ environment: { BATCHES_IN_FLIGHT_MAX: "1" } });

/** The reply is larger than what the kernels of both ends hold. */
const LARGE = {
  emails: Array.from({ length: 60_000 }, (_, at) => `someone${at}@good.com`),
  dns: false,
};
const requestOf = (key: string) =>
  requestText("/v1/email/batch", {
    key,
    body: JSON.stringify(LARGE),
    headers: ["Idempotency-Key: list", "Accept: */*"],
  });

const smallBatch = (key: string) =>
  server.call("/v1/email/batch", { key, body: { emails: ["a@good.com"], dns: false } });

async function isFree(): Promise<boolean> {
  const text = await (await server.call("/metrics")).text();
  return /^assay_batches_under_way 0$/m.test(text);
}

test("a kept reply takes the place of a batch until it is read or its reader leaves, and so does each repetition", async () => {
  const key = await server.signUp();
  for (const call of ["first", "second"]) {
    using reader = openStalled(server.url, requestOf(key), 100_000);
    await until(`reply to the ${call} call`, () => reader.bytes() > 0, 60_000);
    expect([call, await refusalOf(await smallBatch(key))]).toEqual([call, "503 overloaded"]);
    reader[Symbol.dispose]();
    await until(`place behind the ${call} call`, isFree);
  }
  const headers = { "Idempotency-Key": "list" };
  const whole = await server.call("/v1/email/batch", { key, body: LARGE, headers });
  expect(whole.headers.get("Idempotent-Replayed")).toBe("true");
  await whole.bytes();
  await until("place behind what was read", isFree);
  expect((await smallBatch(key)).status).toBe(200);
});
