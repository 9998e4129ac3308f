import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { checkBooks } from "../billing/books.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { type ServerProcess, startProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(600_000);

/** `KILLS=80 bun test test/faults/kill-idempotent.slow.test.ts` goes on for longer. */
const KILLS = Number(process.env.KILLS ?? 6);
/** From the first answer of a server on. */
const KILL_MS_MAX = 400;
/** Calls of one account under way at a time. */
const WORKERS = 3;
/** Calls that are sent once more at the end. */
const REPLAYED_EVERY = 5;

/** The fifth is a plan that stops where its money ends. */
const PLANS = [
  { name: "free", plan: "free", batch: 100, spendLimitUsd: null },
  { name: "starter", plan: "starter", batch: 1000, spendLimitUsd: null },
  { name: "growth", plan: "growth", batch: 2000, spendLimitUsd: null },
  { name: "scale", plan: "scale", batch: 2000, spendLimitUsd: null },
  { name: "starter with a spend limit", plan: "starter", batch: 700, spendLimitUsd: "1.00" },
] as const;

/** A call under an Idempotency-Key, which is sent until it is answered. */
type Sent = { readonly idempotencyKey: string; readonly path: string; readonly body: object };
type Answered = Sent & { readonly status: number; readonly text: string; readonly units: number };

const UNCHARGED: ReadonlySet<string> = new Set(["dns_timeout", "dns_error", "check_failed"]);

type Body = {
  readonly sub_status?: string;
  readonly summary?: { readonly units_charged: number };
};

/** The units that a reply announces: a replay says them in its body alone. */
function unitsIn(text: string): number {
  const { sub_status, summary }: Body = JSON.parse(text);
  return summary?.units_charged ?? (UNCHARGED.has(sub_status ?? "") ? 0 : 1);
}

/** The server that runs now; callers whose connection broke wait here for the next. */
class Restarted {
  private next = Promise.withResolvers<Caller>();
  private current: Caller | undefined;

  started({ url }: ServerProcess): void {
    this.current = callerOf(url);
    this.next.resolve(this.current);
  }

  killed(): void {
    this.current = undefined;
    this.next = Promise.withResolvers();
  }

  async caller(): Promise<Caller> {
    return this.current ?? (await this.next.promise);
  }
}

/** Sends a call, the same again and again where its connection breaks, until it is answered once and for all. */
async function answerTo(
  server: Restarted,
  key: string,
  { idempotencyKey, path, body }: Sent,
  tally: { again: number },
): Promise<{ readonly reply: Response; readonly text: string }> {
  for (;;) {
    const { call } = await server.caller();
    try {
      const reply = await call(path, { key, body, headers: { "Idempotency-Key": idempotencyKey } });
      const text = await reply.text();
      if (reply.status === 200 || reply.status === 402) return { reply, text };
      expect([409, 429, 503]).toContain(reply.status);
      await Bun.sleep(50);
    } catch (error) {
      // Only a connection may fail: what does not hold is no reason to call again.
      if (error instanceof Error && "matcherResult" in error) throw error;
      tally.again += 1;
      await Bun.sleep(5);
    }
  }
}

test("killed again and again under calls with an Idempotency-Key on five plans, each call is charged once, to the unit", async () => {
  using folder = temporaryFolder("kill-idempotent");
  await using dns = await startFixtureServer({ zone: FAULT_ZONE });
  const environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.address, SIGNUPS_PER_MINUTE: "100000" };
  const server = new Restarted();
  let running = await startProcess(environment);
  server.started(running);
  const { signUp, call } = callerOf(running.url);
  const accounts = await Promise.all(
    PLANS.map(async ({ plan, spendLimitUsd, ...rest }) => {
      const key = await signUp(plan);
      if (spendLimitUsd !== null) {
        const limited = await call("/v1/account/plan", {
          key,
          body: { plan, spend_limit_usd: spendLimitUsd },
        });
        expect(limited.status).toBe(200);
      }
      return { ...rest, key, answered: [] as Answered[] };
    }),
  );
  const answeredCount = () => accounts.reduce((count, { answered }) => count + answered.length, 0);
  const tally = { again: 0 };
  let isDone = false;
  const work = accounts.flatMap(({ key, batch, answered, name }) =>
    Array.from({ length: WORKERS }, async (_, worker) => {
      for (let n = 0; !isDone; n += 1) {
        const mark = `${worker}.${n}`;
        const emails = Array.from({ length: batch }, (__, at) => `a${at}.${mark}@d${at % 30}.many.com`);
        const sent: Sent = {
          idempotencyKey: `${name} ${mark}`,
          ...((n + worker) % 3 === 0
            ? { path: "/v1/email/batch", body: { emails } }
            : { path: "/v1/email/verify", body: { email: `one.${mark}@good.com` } }),
        };
        const { reply, text } = await answerTo(server, key, sent, tally);
        answered.push({
          ...sent,
          status: reply.status,
          text,
          units: reply.status === 200 ? unitsIn(text) : 0,
        });
        // A caller with no units left asks no faster than others.
        if (reply.status === 402) await Bun.sleep(20);
      }
    }),
  );
  const working = Promise.all(work);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = answeredCount();
    await until("answer", () => answeredCount() > before, 60_000);
    await Bun.sleep(Math.random() * KILL_MS_MAX);
    server.killed();
    await running.end("SIGKILL");
    running = await startProcess(environment);
    server.started(running);
  }
  isDone = true;
  await working;

  const { unitsOf } = callerOf(running.url);
  let calls = 0;
  let replayed = 0;
  for (const { name, key, answered } of accounts) {
    const announced = answered.reduce((total, { units }) => total + units, 0);
    expect([name, await unitsOf(key)]).toEqual([name, announced]);
    for (const [at, sent] of answered.entries()) {
      if (sent.status !== 200 || at % REPLAYED_EVERY > 0) continue;
      const { reply, text } = await answerTo(server, key, sent, tally);
      expect([reply.status, reply.headers.get("Idempotent-Replayed")]).toEqual([200, "true"]);
      expect(text).toBe(sent.text);
      replayed += 1;
    }
    expect([name, await unitsOf(key)]).toEqual([name, announced]);
    calls += answered.length;
    process.stdout.write(`${name}: ${answered.length} calls, ${announced} units announced and on disk\n`);
  }
  process.stdout.write(
    `${KILLS} kills, ${calls} calls, ${tally.again} sent again, ${replayed} replayed as they were\n`,
  );
  await running.end("SIGTERM");
  checkBooks(join(folder.path, "assay.db"), new Map(), (totals) => expect(totals.size).toBe(PLANS.length));
  expect(tally.again).toBeGreaterThan(0);
});
