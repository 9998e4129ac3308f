import { Database } from "bun:sqlite";
import { expect } from "bun:test";

export type Totals = ReadonlyMap<string, { readonly units: number; readonly calls: number }>;

/**
 * Holds a database against what must be true of it at any time, read by a connection of its own: events, counters
 * and roll-ups agree, months follow each other, nobody passed a hard stop, invoices say what was used and never
 * change. `seenInvoices` remembers them from one look to the next.
 */
export function checkBooks(
  path: string,
  seenInvoices: Map<string, string>,
  check: (totals: Totals) => void,
): void {
  const database = new Database(path, { readonly: true });
  try {
    check(checkCounts(database));
    checkMonths(database);
    checkInvoices(database, seenInvoices);
  } finally {
    database.close(true);
  }
}

function checkCounts(database: Database): Totals {
  type Row = { id: string; units: number; calls: number };
  const totals = (sql: string): Map<string, { units: number; calls: number }> =>
    new Map(
      database
        .query<Row, []>(sql)
        .all()
        .map(({ id, units, calls }) => [id, { units, calls }]),
    );
  const counters = totals(
    "SELECT account_id AS id, sum(units) AS units, sum(calls) AS calls FROM plan_periods GROUP BY 1",
  );
  const events = totals(
    "SELECT account_id AS id, sum(units) AS units, 0 AS calls FROM usage_events GROUP BY 1",
  );
  const days = totals(
    "SELECT account_id AS id, sum(units) AS units, sum(calls) AS calls FROM usage_days GROUP BY 1",
  );
  for (const [id, counted] of counters) {
    expect(events.get(id)?.units ?? 0).toBe(counted.units);
    expect(days.get(id) ?? { units: 0, calls: 0 }).toEqual(counted);
  }
  const unequal = database.query(
    `SELECT p.plan_period_id FROM plan_periods p LEFT JOIN usage_events e USING (plan_period_id)
     GROUP BY 1 HAVING p.units <> coalesce(sum(e.units), 0)`,
  );
  const astray = database.query(
    `SELECT * FROM usage_events e JOIN plan_periods p USING (plan_period_id)
     WHERE e.account_id <> p.account_id OR e.at < p.starts_at OR e.at >= p.period_end`,
  );
  expect([...unequal.all(), ...astray.all()]).toEqual([]);
  return counters;
}

type PlanPeriodRow = {
  account_id: string;
  period_start: number;
  starts_at: number;
  ends_at: number | null;
  included_units: number;
  overage_price_micro_usd: number | null;
  units: number;
};

function checkMonths(database: Database): void {
  const rows = database
    .query<PlanPeriodRow, []>("SELECT * FROM plan_periods ORDER BY account_id, plan_period_id")
    .all();
  let taken = 0;
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    const isFirst = before?.account_id !== row.account_id;
    if (!isFirst) expect(row.starts_at).toBe(before?.ends_at ?? Number.NaN);
    if (isFirst || before?.period_start !== row.period_start) taken = 0;
    taken += row.units;
    if (row.overage_price_micro_usd === null) expect(taken).toBeLessThanOrEqual(row.included_units);
    expect(row.ends_at === null).toBe(rows[index + 1]?.account_id !== row.account_id);
  }
}

type InvoiceRow = { invoice_id: string; body: string; units: number; total_micro_usd: number };
type Line = { quantity: number; unit_price_usd: string; amount_usd: string; description: string };

function checkInvoices(database: Database, seenInvoices: Map<string, string>): void {
  const rows = database.query<InvoiceRow, []>("SELECT * FROM invoices").all();
  for (const row of rows) {
    const seen = seenInvoices.get(row.invoice_id) ?? JSON.stringify(row);
    expect(JSON.stringify(row)).toBe(seen);
    seenInvoices.set(row.invoice_id, seen);
    checkInvoice(row);
  }
  expect(rows.length).toBe(seenInvoices.size);
  const wrong = database.query(
    `SELECT i.invoice_id FROM invoices i JOIN plan_periods p USING (account_id, period_start)
     GROUP BY 1 HAVING i.units <> sum(p.units) OR count(*) <> count(p.invoice_id)`,
  );
  expect(wrong.all()).toEqual([]);
}

function checkInvoice(row: InvoiceRow): void {
  const invoice: { lines: Line[]; total_usd: string } = JSON.parse(row.body);
  const micro = (usd: string): number => Math.round(Number(usd) * 1e6);
  const amounts = invoice.lines.map((line) => {
    expect(line.quantity * micro(line.unit_price_usd)).toBe(micro(line.amount_usd));
    return micro(line.amount_usd);
  });
  const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
  expect(sum(amounts)).toBe(row.total_micro_usd);
  expect(micro(invoice.total_usd)).toBe(row.total_micro_usd);
  const units = invoice.lines.filter(({ description }) => description.includes(": "));
  expect(sum(units.map(({ quantity }) => quantity))).toBe(row.units);
}
