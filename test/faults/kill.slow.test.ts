import { expect, setDefaultTimeout, test } from "bun:test";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { quantile, until } from "../support/caller.ts";
import { accountOf, jsonOf, keyOf } from "../support/json.ts";
import { startProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(600_000);

const ZONE = "*.many.com MX 10 mx.good.com\ngood.com MX 10 mx.good.com\nmx.good.com A 8.8.8.8\n";
/** `KILLS=200 bun test test/faults/kill.slow.test.ts` goes on for longer. */
const ROUNDS = Number(process.env.KILLS ?? 8);

type Tally = { announced: number; asked: number };

/** Calls until the server dies; counts the units that whole replies announced, and those that were asked for. */
async function callUntilDead(url: string, key: string, round: number, tally: Tally) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const post = async (path: string, body: unknown, units: number) => {
    tally.asked += units;
    const reply = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    const result = await jsonOf<{ readonly summary?: { readonly units_charged: number } }>(reply);
    if (reply.status === 200) tally.announced += result.summary?.units_charged ?? 1;
    return reply.status;
  };
  const caller = async (worker: number) => {
    for (let n = 0; n < 10_000; n += 1) {
      const name = `r${round}.w${worker}.n${n}`;
      const status =
        worker % 2 === 0
          ? await post("/v1/email/verify", { email: `${name}@good.com` }, 1)
          : await post(
              "/v1/email/batch",
              { emails: Array.from({ length: 3000 }, (_, at) => `${name}.${at}@d${at % 30}.many.com`) },
              3000,
            );
      if (status !== 200) return;
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, (_, worker) => caller(worker)));
}

test("kill -9 at any moment loses no announced unit and counts none twice", async () => {
  using folder = temporaryFolder("kill");
  await using dns = await startFixtureServer({ zone: ZONE });
  const environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.address };
  const first = await startProcess(environment);
  const signup = await fetch(`${first.url}/v1/signup`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ email: "owner@good.com", plan: "scale" }),
  });
  const key = await keyOf(signup);
  await first.end("SIGKILL");

  let announced = 0;
  let asked = 0;
  const startsMs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using server = await startProcess(environment);
    startsMs.push(server.startMs);
    const tally = { announced: 0, asked: 0 };
    const calling = callUntilDead(server.url, key, round, tally);
    // By turns at any moment, and after an answer, which takes a server that just started a while on a busy machine.
    if (round % 2 === 1) await until("announced unit", () => tally.announced > 0, 60_000);
    setTimeout(() => void server.end("SIGKILL"), 20 + Math.random() * 400);
    await calling;
    announced += tally.announced;
    asked += tally.asked;
  }

  await using last = await startProcess(environment);
  const reply = await fetch(`${last.url}/v1/account`, { headers: { Authorization: `Bearer ${key}` } });
  const { usage } = await accountOf(reply);
  process.stdout.write(
    `${ROUNDS} kills: ${asked} units asked for, ${announced} announced, ${usage.units} on disk; ` +
      `starts ${Math.round(quantile(startsMs, 0.5))} ms in the median, ${Math.round(Math.max(...startsMs))} ms at most\n`,
  );
  expect(announced).toBeGreaterThan(0);
  expect(usage.units).toBeGreaterThanOrEqual(announced);
  expect(usage.units).toBeLessThanOrEqual(asked);
});
