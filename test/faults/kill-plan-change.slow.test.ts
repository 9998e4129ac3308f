import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { checkBooks } from "../billing/books.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { type ChargeLedger, chargeUntilDead } from "../support/charge-ledger.ts";
import { startProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(600_000);

/** `KILLS=100 bun test test/faults/kill-plan-change.slow.test.ts` goes on for longer. */
const ROUNDS = Number(process.env.KILLS ?? 6);
const ACCOUNTS_PER_ROUND = 6;

/** What is asked for one after the other, and where it leads: upgrades at once, downgrades with the month. */
const STEPS = [
  { ask: "starter", plan: "starter", pending: null },
  { ask: "growth", plan: "growth", pending: null },
  { ask: "starter", plan: "growth", pending: "starter" },
  { ask: "growth", plan: "growth", pending: null },
  { ask: "scale", plan: "scale", pending: null },
  { ask: "free", plan: "scale", pending: "free" },
] as const;

const CHANGES_PER_ROUND = ACCOUNTS_PER_ROUND * STEPS.length;

type Ledger = ChargeLedger & { changesAsked: number; changesAcknowledged: number };

async function changeUntilDead({ call }: Caller, ledger: Ledger, onAcknowledged: () => void): Promise<void> {
  for (const { ask } of STEPS) {
    ledger.changesAsked += 1;
    const reply = await call("/v1/account/plan", { key: ledger.key, body: { plan: ask } });
    await reply.json();
    expect(reply.status).toBe(200);
    ledger.changesAcknowledged += 1;
    onAcknowledged();
  }
}

test("kill -9 during plan changes leaves each account before or after a change, and every unit under one plan", async () => {
  using folder = temporaryFolder("kill-plan");
  await using dns = await startFixtureServer({ zone: FAULT_ZONE });
  const environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.address, SIGNUPS_PER_MINUTE: "100000" };
  const accounts: Ledger[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using server = await startProcess(environment);
    const caller = callerOf(server.url);
    const fresh = await Promise.all(
      Array.from({ length: ACCOUNTS_PER_ROUND }, async () => ({
        key: await caller.signUp("free"),
        changesAsked: 0,
        changesAcknowledged: 0,
        asked: 0,
        acknowledged: 0,
      })),
    );
    accounts.push(...fresh);
    const kill = () => void server.end("SIGKILL");
    // By turns at any moment, and among the changes, which a quick disk is done with in a few milliseconds.
    let changesLeft = round % 2 === 0 ? Math.ceil(Math.random() * CHANGES_PER_ROUND) : Number.NaN;
    const onAcknowledged = () => {
      changesLeft -= 1;
      if (changesLeft === 0) kill();
    };
    const work = fresh.flatMap((ledger) => [
      changeUntilDead(caller, ledger, onAcknowledged),
      chargeUntilDead(caller, ledger, (status) => expect([402, 429]).toContain(status)),
    ]);
    const calling = Promise.allSettled(work);
    if (round % 2 === 1) {
      // A server that just started may take a while to its first answer.
      await until("charge", () => fresh.some(({ acknowledged }) => acknowledged > 0));
      setTimeout(kill, Math.random() * 250);
    }
    for (const { status, reason } of (await calling) as { status: string; reason?: Error }[]) {
      // The connection of the killed server is the only failure there may be.
      if (status === "rejected") expect(reason).not.toHaveProperty("matcherResult");
    }
    checkBooks(join(folder.path, "assay.db"), new Map(), (totals) =>
      expect(totals.size).toBe(accounts.length),
    );
  }

  await using server = await startProcess(environment);
  const { accountOf } = callerOf(server.url);
  let midway = 0;
  for (const { key, changesAsked, changesAcknowledged, asked, acknowledged } of accounts) {
    const { plan, pending_plan, usage } = await accountOf(key);
    const possible = [changesAcknowledged, changesAsked].map((step) => {
      const after = STEPS[step - 1] ?? { plan: "free", pending: null };
      return `${after.plan} ${after.pending}`;
    });
    expect(possible).toContain(`${plan} ${pending_plan}`);
    expect(usage.units).toBeGreaterThanOrEqual(acknowledged);
    expect(usage.units).toBeLessThanOrEqual(asked);
    if (changesAcknowledged < STEPS.length) midway += 1;
  }
  process.stdout.write(
    `${ROUNDS} kills, ${accounts.length} accounts, ${midway} killed between plan changes\n`,
  );
  expect(midway).toBeGreaterThan(0);
  expect(accounts.some(({ acknowledged }) => acknowledged > 0)).toBeTrue();
});
