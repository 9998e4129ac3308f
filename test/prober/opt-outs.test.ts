import { expect, test } from "bun:test";
import type { AddressLookup } from "../../src/net/address-lookup.ts";
import { createHttpClient } from "../../src/net/http-client.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createOptOuts } from "../../src/prober/opt-outs.ts";

/** Of 64 KB each: more than is kept of all. */
const ORIGINS = 300;

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
