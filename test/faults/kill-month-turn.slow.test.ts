import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { InvoicePage } from "../../src/accounts/invoice-list.ts";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { checkBooks } from "../billing/books.ts";
import { type Caller, callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { type ChargeLedger, chargeUntilDead } from "../support/charge-ledger.ts";
import { jsonOf } from "../support/json.ts";
import { killStart, startShiftedProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(600_000);

/** `MONTHS=10 bun test test/faults/kill-month-turn.slow.test.ts` goes on for longer. */
const ROUNDS = Number(process.env.MONTHS ?? 3);
const ACCOUNTS = 120;
const CALLERS = 6;
const PLANS = ["free", "starter", "growth", "scale"];

const monthStart = (months: number) => Date.UTC(2027, months, 1);
const offsetTo = (time: number) => time - Date.now();

async function changePlansUntilDead({ call }: Caller, accounts: readonly ChargeLedger[]): Promise<void> {
  for (const [position, { key }] of accounts.entries()) {
    const reply = await call("/v1/account/plan", { key, body: { plan: PLANS[position % PLANS.length] } });
    await reply.json();
  }
}

function invoiceCount(path: string): number {
  using database = new Database(path, { readonly: true });
  database.run("PRAGMA busy_timeout = 2000");
  return database.query<{ count: number }, []>("SELECT count(*) AS count FROM invoices").get()?.count ?? 0;
}

test("kill -9 around the turn of a month bills each month of each account once, with the units that were acknowledged", async () => {
  using folder = temporaryFolder("kill-month");
  await using dns = await startFixtureServer({ zone: FAULT_ZONE });
  const environment = { DATA_DIR: folder.path, DNS_SERVERS: dns.address, SIGNUPS_PER_MINUTE: "100000" };
  const start = (time: number) =>
    startShiftedProcess({ ...environment, TEST_CLOCK_OFFSET_MS: `${offsetTo(time)}` });
  const database = join(folder.path, "assay.db");
  const seenInvoices = new Map<string, string>();
  const accounts: ChargeLedger[] = [];

  let killedAtIt = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0) {
      // The start bills the month before, and is killed while it is at that.
      const before = invoiceCount(database);
      const offset = `${offsetTo(monthStart(round) + 1000)}`;
      await killStart({ ...environment, TEST_CLOCK_OFFSET_MS: offset }, () =>
        until("invoice", () => invoiceCount(database) > before),
      );
      const issued = invoiceCount(database) - before;
      if (issued < ACCOUNTS) killedAtIt += 1;
      checkBooks(database, seenInvoices, (totals) => expect(totals.size).toBe(ACCOUNTS));
    }
    await using server = await start(monthStart(round) + 1000);
    const caller = callerOf(server.url);
    while (accounts.length < ACCOUNTS) {
      const plan = PLANS[accounts.length % PLANS.length] ?? "free";
      accounts.push({ key: await caller.signUp(plan), asked: 0, acknowledged: 0 });
    }
    const calling = Promise.allSettled([
      ...accounts.slice(0, CALLERS).map((ledger) => chargeUntilDead(caller, ledger)),
      changePlansUntilDead(caller, accounts.slice(0, 2 * CALLERS)),
    ]);
    // What is acknowledged is to be found again: a server that just started may take a while to its first answer.
    await until("charge", () => accounts.some(({ acknowledged }) => acknowledged > 0));
    await server.shiftClock(offsetTo(monthStart(round + 1) - 60));
    setTimeout(() => void server.end("SIGKILL"), Math.random() * 150);
    await calling;
    checkBooks(database, seenInvoices, (totals) => expect(totals.size).toBe(ACCOUNTS));
  }

  await using server = await start(monthStart(ROUNDS) + 1000);
  const { call, accountOf } = callerOf(server.url);
  const invoicesOf = async (key: string) =>
    (await jsonOf<InvoicePage>(await call("/v1/account/invoices?limit=100", { key }))).data;
  await until("invoice of each month", () => invoiceCount(database) === ACCOUNTS * ROUNDS);
  checkBooks(database, seenInvoices, (totals) => expect(totals.size).toBe(ACCOUNTS));
  let units = 0;
  for (const { key, asked, acknowledged } of accounts) {
    const invoices = await invoicesOf(key);
    const months = invoices.map(({ period_start }) => Date.parse(period_start)).reverse();
    expect(months).toEqual(Array.from({ length: ROUNDS }, (_, month) => monthStart(month)));
    const { usage } = await accountOf(key);
    const billed = invoices
      .flatMap((invoice) => invoice.lines)
      .filter(({ description }) => description.includes(": "))
      .reduce((total, { quantity }) => total + quantity, 0);
    const { rows } = await jsonOf<{ rows: { units: number }[] }>(
      await call("/v1/account/usage?from=2027-01-01&to=2027-12-01&group_by=endpoint", { key }),
    );
    const used = rows.reduce((total, row) => total + row.units, 0);
    expect(billed + usage.units).toBe(used);
    expect(used).toBeGreaterThanOrEqual(acknowledged);
    expect(used).toBeLessThanOrEqual(asked);
    units += used;
  }
  process.stdout.write(
    `${ROUNDS} month turns, ${killedAtIt} starts killed between the invoices of a month: ` +
      `${seenInvoices.size} invoices, ${units} units\n`,
  );
  expect(seenInvoices.size).toBe(ACCOUNTS * ROUNDS);
  expect(units).toBeGreaterThan(0);
});
