import { afterEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { createKeyExpiry } from "../../src/accounts/key-expiry.ts";
import { createKeys } from "../../src/accounts/key-list.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import {
  charge,
  type HandClock,
  handClock,
  openParts,
  type Parts,
  signUp,
  withDirectory,
} from "../billing/parts.ts";

const DAY_MS = 86_400_000;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function opened(options: { readonly clock?: HandClock; readonly dataDir?: string } = {}): Parts {
  const parts = openParts({ ...options, clock: options.clock ?? handClock() });
  closing.push(parts.store.close);
  return parts;
}

let webhooks = 0;
function listen({ store, clock }: Parts, accountId: string, events: readonly string[] | null = null): string {
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
    },
    null,
  );
  return webhookId;
}

/** What was written for a webhook, oldest first. */
function told({ store }: Parts, webhookId: string) {
  const page = { webhookId, afterDeliveryId: null, since: 0, limit: 100 };
  return [...(store.deliveryPage(page) ?? [])]
    .reverse()
    .map(({ type, body, createdAt }) => ({ type, data: JSON.parse(body).data, at: createdAt }));
}

const typesOf = (parts: Parts, webhookId: string) =>
  told(parts, webhookId)
    .map(({ type }) => type)
    .sort();

test("a share of the month's units is told of once, with the charge that reaches it", async () => {
  const parts = opened();
  const { accountId } = signUp(parts);
  const webhookId = listen(parts, accountId);
  await charge(parts, accountId, 799);
  expect(told(parts, webhookId)).toEqual([]);
  await charge(parts, accountId, 1);
  expect(told(parts, webhookId)).toEqual([
    {
      type: "quota.80",
      at: parts.clock.now(),
      data: {
        plan: "free",
        period: { start: "2026-11-01T00:00:00Z", end: "2026-12-01T00:00:00Z" },
        units: 800,
        included_units: 1_000,
        remaining_units: 200,
      },
    },
  ]);
  await charge(parts, accountId, 100);
  expect(typesOf(parts, webhookId)).toEqual(["quota.80"]);
  parts.clock.advance(1);
  await charge(parts, accountId, 100);
  expect(typesOf(parts, webhookId)).toEqual(["quota.100", "quota.80"]);
  expect(told(parts, webhookId)[1]?.data).toMatchObject({ units: 1_000, remaining_units: 0 });
});

test("a charge that passes both shares tells of both, and one of another account of neither", async () => {
  const parts = opened();
  const [mine, theirs] = [signUp(parts).accountId, signUp(parts).accountId];
  const [all, some] = [listen(parts, mine), listen(parts, theirs)];
  await charge(parts, mine, 1_000);
  expect(typesOf(parts, all)).toEqual(["quota.100", "quota.80"]);
  expect(typesOf(parts, some)).toEqual([]);
});

test("charges that share a transaction tell of what they reach together", async () => {
  const parts = opened();
  const { accountId } = signUp(parts);
  const webhookId = listen(parts, accountId);
  await Promise.all(Array.from({ length: 1_000 }, () => charge(parts, accountId, 1)));
  expect(typesOf(parts, webhookId)).toEqual(["quota.100", "quota.80"]);
});

test("units beyond the included ones are told of as well, and a new month begins anew", async () => {
  const clock = handClock("2026-11-01T00:00:00Z");
  const parts = opened({ clock });
  const { accountId } = signUp(parts, "starter");
  const webhookId = listen(parts, accountId, ["quota.80", "quota.100"]);
  await charge(parts, accountId, 20_000);
  await charge(parts, accountId, 10_000);
  await charge(parts, accountId, 10_000);
  expect(typesOf(parts, webhookId)).toEqual(["quota.100", "quota.80"]);
  clock.set("2026-12-01T00:00:00Z");
  await charge(parts, accountId, 19_999);
  expect(typesOf(parts, webhookId)).toHaveLength(2);
  await charge(parts, accountId, 1);
  expect(typesOf(parts, webhookId)).toEqual(["quota.100", "quota.80", "quota.80"]);
});

test("units that an operator gives bring no second telling", async () => {
  const parts = opened();
  const { accountId } = signUp(parts);
  const webhookId = listen(parts, accountId);
  await charge(parts, accountId, 900);
  const act = { at: 1, operator: "op", action: "credit", accountId, details: "{}" };
  parts.store.creditUnits(parts.meter.ledger(accountId).current.planPeriodId, 1_000, act);
  parts.meter.forget(accountId);
  await charge(parts, accountId, 800);
  expect(typesOf(parts, webhookId)).toEqual(["quota.80"]);
  await charge(parts, accountId, 300);
  expect(typesOf(parts, webhookId)).toEqual(["quota.100", "quota.80"]);
});

test("a restart forgets nothing of what was told, and loses nothing of what is to be", async () => {
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

test("a charge that the disk refuses tells of nothing; the one that follows does", async () => {
  const parts = opened();
  const { accountId } = signUp(parts);
  const webhookId = listen(parts, accountId);
  const chunk = { jobId: "job_none", n: 0, attempt: 1, rowsDone: 1, isWhole: true };
  const results = { body: new Uint8Array(), lineBytes: 0, units: 1, unchecked: 0, replaces: false };
  const reservation = parts.meter.reserve({ accountId }, 900);
  // A chunk that nobody holds undoes the transaction of its charge.
  const refused = reservation.record({ endpoint: "/v1/jobs", units: 900 }, null, {
    ...chunk,
    ...results,
    processed: 1,
    counts: {},
  });
  await expect(refused).rejects.toThrow();
  expect(typesOf(parts, webhookId)).toEqual([]);
  await reservation.record({ endpoint: "/v1/email/verify", units: 900 });
  reservation.release();
  expect(typesOf(parts, webhookId)).toEqual(["quota.80"]);
});

test("an invoice is told of once, in the transaction that issues it", async () => {
  await withDirectory(async (dataDir) => {
    const clock = handClock("2026-11-20T12:00:00Z");
    const parts = opened({ clock, dataDir });
    const { accountId } = signUp(parts, "starter");
    const webhookId = listen(parts, accountId);
    await charge(parts, accountId, 10);
    clock.set("2026-12-01T00:00:05Z");
    expect(await parts.billing.issueDue()).toEqual({ issued: 1, waiting: 0 });
    const page = parts.store.invoicePage(accountId, null, 10);
    const body = JSON.parse(page?.[0]?.body ?? "{}");
    expect(told(parts, webhookId)).toEqual([
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
    await parts.billing.issueDue();
    parts.store.close();
    const next = opened({ clock, dataDir });
    await next.billing.issueDue();
    expect(typesOf(next, webhookId)).toEqual(["invoice.issued"]);
  });
});

test("an invoice that is undone is not told of", async () => {
  const clock = handClock("2026-11-20T12:00:00Z");
  const parts = opened({ clock });
  const { accountId } = signUp(parts, "starter");
  const webhookId = listen(parts, accountId);
  const month = {
    accountId,
    periodStart: Date.parse("2026-11-01T00:00:00Z"),
    periodEnd: Date.parse("2026-12-01T00:00:00Z"),
  };
  const figures = { units: 0, totalMicroUsd: 0, body: "{}", issuedAt: 1 };
  let made = 0;
  const issue = () =>
    parts.store.issueInvoices([month, { ...month, periodStart: 0 }], (each) => {
      made += 1;
      if (made === 2) throw new StorageError("SQLITE_FULL");
      const event = { type: "invoice.issued", at: 1, data: {} };
      return { invoice: { ...each, ...figures, invoiceId: `inv_${made}` }, event };
    });
  expect(issue).toThrow(StorageError);
  expect(told(parts, webhookId)).toEqual([]);
});

test("a key that ends is told of once, seven days ahead, across restarts", async () => {
  await withDirectory((dataDir) => {
    const clock = handClock();
    const parts = opened({ clock, dataDir });
    const { accountId } = signUp(parts);
    const webhookId = listen(parts, accountId);
    const fields = { name: "ci", scopes: null, expiresAt: "2026-12-20T12:00:00Z" };
    const key = createKeys({ ...parts, randomBytes }).create(accountId, fields);
    const look = (at: Parts) => createKeyExpiry(at).tellDue();
    clock.set("2026-12-13T11:59:59.999Z");
    look(parts);
    expect(told(parts, webhookId)).toEqual([]);
    clock.advance(1);
    look(parts);
    look(parts);
    expect(told(parts, webhookId)).toEqual([
      {
        type: "key.expiring",
        at: clock.now(),
        data: { key_id: key.key_id, name: "ci", hint: key.hint, expires_at: "2026-12-20T12:00:00Z" },
      },
    ]);
    parts.store.close();
    const next = opened({ clock, dataDir });
    clock.advance(DAY_MS);
    look(next);
    expect(typesOf(next, webhookId)).toEqual(["key.expiring"]);
  });
});

test("a key that was revoked, rotated or has ended is not told of; one that is made late is", () => {
  const parts = opened();
  const { clock } = parts;
  const { accountId } = signUp(parts);
  const webhookId = listen(parts, accountId);
  const keys = createKeys({ ...parts, randomBytes });
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
  parts.accounts.rotateKey(accountId, { overlapSeconds: 3_600, keyId: replaced.key_id });
  clock.advance(1_000);
  createKeyExpiry(parts).tellDue();
  expect(told(parts, webhookId).map(({ data }) => data.key_id)).toEqual([late.key_id]);
});

test("many keys that end at once are told of a hundred at a time, each once", () => {
  const parts = opened();
  const ids = Array.from({ length: 3 }, () => signUp(parts).accountId);
  const hooks = ids.map((accountId) => listen(parts, accountId));
  const keys = createKeys({ ...parts, randomBytes });
  for (const accountId of ids) {
    for (let n = 0; n < 50; n++) {
      keys.create(accountId, { name: null, scopes: null, expiresAt: "2026-11-22T00:00:00Z" });
    }
  }
  const expiry = createKeyExpiry(parts);
  const count = () => hooks.reduce((sum, webhookId) => sum + told(parts, webhookId).length, 0);
  const counts = [1, 2, 3].map(() => {
    expiry.tellDue();
    return count();
  });
  expect(counts).toEqual([100, 150, 150]);
});
