import { afterEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createKeyExpiry } from "../../src/accounts/key-expiry.ts";
import { createKeys } from "../../src/accounts/key-list.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import {
  type Accounting,
  charge,
  type HandClock,
  handClock,
  openAccounting,
  signUp,
  withDirectory,
} from "../billing/accounting.ts";

const DAY_MS = 86_400_000;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function opened(options: { readonly clock?: HandClock; readonly dataDir?: string } = {}): Accounting {
  const accounting = openAccounting({ ...options, clock: options.clock ?? handClock() });
  closing.push(accounting.store.close);
  return accounting;
}

let webhooks = 0;
function listen(
  { store, clock }: Accounting,
  accountId: string,
  events: readonly string[] | null = null,
): string {
  webhooks += 1;
  const webhookId = `wh_${webhooks}`;
  store.createWebhook(
    {
      webhookId,
      accountId,
      url: "https://hooks.example.com/",
      events,
      description: null,
      disabledReason: null,
      secret: "whsec_",
      formerSecrets: [],
      createdAt: clock.now(),
      failingSince: null,
      failedAt: null,
      failingMs: 0,
    },
    20,
    null,
  );
  return webhookId;
}

/** What was written for a webhook, oldest first. */
function eventsOf({ store }: Accounting, webhookId: string) {
  const page = { webhookId, afterDeliveryId: null, since: 0, limit: 100 };
  return [...(store.deliveryPage(page) ?? [])]
    .reverse()
    .map(({ type, body, createdAt }) => ({ type, data: JSON.parse(body).data, at: createdAt }));
}

const typesOf = (accounting: Accounting, webhookId: string) =>
  eventsOf(accounting, webhookId)
    .map(({ type }) => type)
    .sort();

test("a share of the month's units emits one event, with the charge that reaches it", async () => {
  const accounting = opened();
  const { accountId } = signUp(accounting);
  const webhookId = listen(accounting, accountId);
  await charge(accounting, accountId, 799);
  expect(eventsOf(accounting, webhookId)).toEqual([]);
  await charge(accounting, accountId, 1);
  expect(eventsOf(accounting, webhookId)).toEqual([
    {
      type: "quota.80",
      at: accounting.clock.now(),
      data: {
        plan: "free",
        period: { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" },
        units: 800,
        included_units: 1_000,
        remaining_units: 200,
      },
    },
  ]);
  await charge(accounting, accountId, 100);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.80"]);
  accounting.clock.advance(1);
  await charge(accounting, accountId, 100);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.100", "quota.80"]);
  expect(eventsOf(accounting, webhookId)[1]?.data).toMatchObject({ units: 1_000, remaining_units: 0 });
});

test("a charge that passes both shares emits both events, and none for another account", async () => {
  const accounting = opened();
  const [mine, theirs] = [signUp(accounting).accountId, signUp(accounting).accountId];
  const [all, some] = [listen(accounting, mine), listen(accounting, theirs)];
  await charge(accounting, mine, 1_000);
  expect(typesOf(accounting, all)).toEqual(["quota.100", "quota.80"]);
  expect(typesOf(accounting, some)).toEqual([]);
});

test("charges in one transaction emit the events of their sum", async () => {
  const accounting = opened();
  const { accountId } = signUp(accounting);
  const webhookId = listen(accounting, accountId);
  await Promise.all(Array.from({ length: 1_000 }, () => charge(accounting, accountId, 1)));
  expect(typesOf(accounting, webhookId)).toEqual(["quota.100", "quota.80"]);
});

test("a plan with overage emits the same events, and each month begins anew", async () => {
  const clock = handClock("2026-11-01T00:00:00Z");
  const accounting = opened({ clock });
  const { accountId } = signUp(accounting, "starter");
  const webhookId = listen(accounting, accountId, ["quota.80", "quota.100"]);
  await charge(accounting, accountId, 20_000);
  await charge(accounting, accountId, 10_000);
  await charge(accounting, accountId, 10_000);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.100", "quota.80"]);
  clock.set("2026-12-01T00:00:00Z");
  await charge(accounting, accountId, 19_999);
  expect(typesOf(accounting, webhookId)).toHaveLength(2);
  await charge(accounting, accountId, 1);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.100", "quota.80", "quota.80"]);
});

test("units that an operator grants emit no second event", async () => {
  const accounting = opened();
  const { accountId } = signUp(accounting);
  const webhookId = listen(accounting, accountId);
  await charge(accounting, accountId, 900);
  const act = { at: 1, operator: "op", action: "credit", accountId, details: "{}" };
  accounting.store.creditUnits(accounting.meter.ledger(accountId).current.planPeriodId, 1_000, act);
  accounting.meter.forget(accountId);
  await charge(accounting, accountId, 800);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.80"]);
  await charge(accounting, accountId, 300);
  expect(typesOf(accounting, webhookId)).toEqual(["quota.100", "quota.80"]);
});

test("a restart repeats no event and loses none", async () => {
  await withDirectory(async (dataDir) => {
    const clock = handClock();
    const first = opened({ clock, dataDir });
    const { accountId } = signUp(first);
    const webhookId = listen(first, accountId);
    await charge(first, accountId, 850);
    first.store.close();
    const next = opened({ clock, dataDir });
    await charge(next, accountId, 50);
    expect(typesOf(next, webhookId)).toEqual(["quota.80"]);
    await charge(next, accountId, 100);
    expect(typesOf(next, webhookId)).toEqual(["quota.100", "quota.80"]);
  });
});

test("a charge that is rolled back emits no event; the next one emits it", async () => {
  const accounting = opened();
  const { accountId } = signUp(accounting);
  const webhookId = listen(accounting, accountId);
  const chunk = { jobId: "job_none", n: 0, attempt: 1, rowsDone: 1, isWhole: true, attemptsAfter: 0 };
  const results = { body: new Uint8Array(), lineBytes: 0, units: 1, unchecked: 0, replaces: false };
  const reservation = accounting.meter.reserve({ accountId }, 900);
  // A chunk that nobody holds undoes the transaction of its charge.
  const refused = reservation.record({ endpoint: "/v1/jobs", units: 900 }, null, {
    ...chunk,
    ...results,
    processed: 1,
    counts: {},
  });
  await expect(refused).rejects.toThrow();
  expect(typesOf(accounting, webhookId)).toEqual([]);
  await reservation.record({ endpoint: "/v1/email/verify", units: 900 });
  reservation.release();
  expect(typesOf(accounting, webhookId)).toEqual(["quota.80"]);
});

test("an invoice emits one event, in the transaction that issues it", async () => {
  await withDirectory(async (dataDir) => {
    const clock = handClock("2026-11-20T12:00:00Z");
    const accounting = opened({ clock, dataDir });
    const { accountId } = signUp(accounting, "starter");
    const webhookId = listen(accounting, accountId);
    await charge(accounting, accountId, 10);
    clock.set("2026-12-01T00:00:05Z");
    expect(await accounting.billing.issueDue()).toEqual({ issued: 1, waiting: 0 });
    const page = accounting.store.invoicePage(accountId, null, 10);
    const body = JSON.parse(page?.[0]?.body ?? "{}");
    expect(eventsOf(accounting, webhookId)).toEqual([
      {
        type: "invoice.issued",
        at: clock.now(),
        data: {
          invoice_id: body.invoice_id,
          plan: "starter",
          period_start: "2026-11-01T00:00:00Z",
          period_end: "2026-12-01T00:00:00Z",
          total_usd: body.total_usd,
        },
      },
    ]);
    await accounting.billing.issueDue();
    accounting.store.close();
    const next = opened({ clock, dataDir });
    await next.billing.issueDue();
    expect(typesOf(next, webhookId)).toEqual(["invoice.issued"]);
  });
});

test("an invoice that is rolled back emits no event", async () => {
  const clock = handClock("2026-11-20T12:00:00Z");
  const accounting = opened({ clock });
  const { accountId } = signUp(accounting, "starter");
  const webhookId = listen(accounting, accountId);
  const month = {
    accountId,
    periodStart: Date.parse("2026-11-01T00:00:00Z"),
    periodEnd: Date.parse("2026-12-01T00:00:00Z"),
  };
  const figures = { units: 0, totalMicroUsd: 0, body: "{}", issuedAt: 1 };
  let made = 0;
  const issue = () =>
    accounting.store.issueInvoices([month, { ...month, periodStart: 0 }], (each) => {
      made += 1;
      if (made === 2) throw new StorageError("SQLITE_FULL");
      const event = { type: "invoice.issued", at: 1, data: {} };
      return { invoice: { ...each, ...figures, invoiceId: `inv_${made}` }, event };
    });
  expect(issue).toThrow(StorageError);
  expect(eventsOf(accounting, webhookId)).toEqual([]);
});

test("a key that ends emits one event, seven days ahead, across restarts", async () => {
  await withDirectory((dataDir) => {
    const clock = handClock();
    const accounting = opened({ clock, dataDir });
    const { accountId } = signUp(accounting);
    const webhookId = listen(accounting, accountId);
    const fields = { name: "ci", scopes: null, expiresAt: "2026-12-20T12:00:00Z" };
    const key = createKeys({ ...accounting, randomBytes }).create(accountId, fields);
    const look = (at: Accounting) => createKeyExpiry(at).emitDue();
    clock.set("2026-12-13T11:59:59.999Z");
    look(accounting);
    expect(eventsOf(accounting, webhookId)).toEqual([]);
    clock.advance(1);
    look(accounting);
    look(accounting);
    expect(eventsOf(accounting, webhookId)).toEqual([
      {
        type: "key.expiring",
        at: clock.now(),
        data: { key_id: key.key_id, name: "ci", hint: key.hint, expires_at: "2026-12-20T12:00:00Z" },
      },
    ]);
    accounting.store.close();
    const next = opened({ clock, dataDir });
    clock.advance(DAY_MS);
    look(next);
    expect(typesOf(next, webhookId)).toEqual(["key.expiring"]);
  });
});

test("a key that was revoked, was rotated or has ended emits no event; one that is made late does", () => {
  const accounting = opened();
  const { clock } = accounting;
  const { accountId } = signUp(accounting);
  const webhookId = listen(accounting, accountId);
  const keys = createKeys({ ...accounting, randomBytes });
  const endingIn = (ms: number) =>
    keys.create(accountId, {
      name: null,
      scopes: null,
      expiresAt: new Date(clock.now() + ms).toISOString(),
    });
  const revoked = endingIn(DAY_MS);
  endingIn(1_000);
  const late = endingIn(3 * DAY_MS);
  keys.remove(accountId, revoked.key_id);
  const replaced = endingIn(DAY_MS);
  accounting.accounts.rotateKey(accountId, { overlapSeconds: 3_600, keyId: replaced.key_id });
  clock.advance(1_000);
  createKeyExpiry(accounting).emitDue();
  expect(eventsOf(accounting, webhookId).map(({ data }) => data.key_id)).toEqual([late.key_id]);
});

test("many keys that end at once emit their events a hundred at a time, each once", () => {
  const accounting = opened();
  const ids = Array.from({ length: 3 }, () => signUp(accounting).accountId);
  const hooks = ids.map((accountId) => listen(accounting, accountId));
  const keys = createKeys({ ...accounting, randomBytes });
  for (const accountId of ids) {
    for (let n = 0; n < 50; n++) {
      keys.create(accountId, { name: null, scopes: null, expiresAt: "2026-11-22T00:00:00Z" });
    }
  }
  const expiry = createKeyExpiry(accounting);
  const count = () => hooks.reduce((sum, webhookId) => sum + eventsOf(accounting, webhookId).length, 0);
  const counts = [1, 2, 3].map(() => {
    expiry.emitDue();
    return count();
  });
  expect(counts).toEqual([100, 150, 150]);
});
