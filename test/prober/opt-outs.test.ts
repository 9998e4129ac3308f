import { expect, test } from "bun:test";
import type { AddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createOptOuts } from "../../src/prober/opt-outs.ts";

/** Of 64 KB each: more than is kept of all. */
const ORIGINS = 300;
const HOUR_MS = 3_600_000;

test("of hosts with long rules the oldest are forgotten, and asked again", async () => {
  const asked: string[] = [];
  const rules = "User-agent: assay-probe\nDisallow: /closed\n".padEnd(65_536, "#");
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      asked.push(request.headers.get("host") ?? "");
      return new Response(rules);
    },
  });
  const lookUp: AddressLookup = async () => ({ ok: true, addresses: ["127.0.0.1"] });
  const client = createHttpClient({ lookUp, clock: systemClock }, { allowPrivate: true });
  const optOuts = createOptOuts({ client, clock: systemClock });
  const { signal } = new AbortController();
  const hostOf = (n: number) => `host-${n}.example:${server.port}`;
  const isKeptOut = (n: number) => optOuts.keepsOut(`http://${hostOf(n)}/closed/run`, signal);
  for (let n = 0; n < ORIGINS; n += 1) expect(await isKeptOut(n)).toBe(true);
  expect(asked).toHaveLength(ORIGINS);
  expect([await isKeptOut(ORIGINS - 1), await isKeptOut(0)]).toEqual([true, true]);
  expect(asked.slice(ORIGINS)).toEqual([hostOf(0)]);
});

test("a host that fails to answer for its rules keeps those it had, until it says otherwise", async () => {
  let answer: { readonly status: number; readonly text?: string } = { status: 503 };
  let asked = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      asked += 1;
      return new Response(answer.text ?? "", { status: answer.status });
    },
  });
  let nowMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs };
  const lookUp: AddressLookup = async () => ({ ok: true, addresses: ["127.0.0.1"] });
  const optOuts = createOptOuts({
    client: createHttpClient({ lookUp, clock: systemClock }, { allowPrivate: true }),
    clock,
  });
  const { signal } = new AbortController();
  const isKeptOut = () => optOuts.keepsOut(`http://host.example:${server.port}/closed/run`, signal);
  expect(await isKeptOut()).toBe(false);
  answer = { status: 200, text: "User-agent: assay-probe\nDisallow: /closed\n" };
  nowMs += HOUR_MS;
  expect(await isKeptOut()).toBe(true);
  for (const status of [503, 429, 500]) {
    answer = { status };
    nowMs += 24 * HOUR_MS;
    expect(await isKeptOut()).toBe(true);
  }
  answer = { status: 404 };
  expect(await isKeptOut()).toBe(true);
  nowMs += HOUR_MS;
  expect(await isKeptOut()).toBe(false);
  expect(asked).toBe(6);
});
