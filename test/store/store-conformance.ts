import { describe, expect, test } from "bun:test";
import type { Clock } from "../../src/platform/clock.ts";
import { AccountErasedError } from "../../src/store/account-port.ts";
import type {
  AccountRecord,
  ChargeEntry,
  Month,
  NewPlanPeriod,
  ReplyRecord,
} from "../../src/store/account-records.ts";
import { chargeSums } from "../../src/store/charge-sums.ts";
import { CommandEndedError, UNREPORTED } from "../../src/store/operator-port.ts";
import type { AccountingStore } from "../../src/store/port.ts";

const MONTH = {
  periodStart: Date.parse("2026-11-01T00:00:00Z"),
  periodEnd: Date.parse("2026-12-01T00:00:00Z"),
};
const NEXT = {
  periodStart: Date.parse("2026-12-01T00:00:00Z"),
  periodEnd: Date.parse("2027-01-01T00:00:00Z"),
};
const FREE = { plan: "free", monthlyPriceMicroUsd: 0, includedUnits: 1_000, overagePriceMicroUsd: null };
const GROWTH = { ...FREE, plan: "growth", includedUnits: 250_000 };
export const NOON = Date.parse("2026-11-20T12:00:00Z");

export const clock: Clock = { now: () => NOON, monotonic: () => 1_000 };

function accountRecord(accountId: string): AccountRecord {
  return {
    accountId,
    email: `${accountId}@example.com`,
    normalized: `${accountId}@example.com`,
    name: null,
    company: "Ação & Söhne 🦊",
    country: "BR",
    referralCode: null,
    plan: "free",
    pendingPlan: null,
    spendLimitMicroUsd: null,
    createdAt: 1_795_000_000_123,
    suspendedAt: null,
    erasedAt: null,
  };
}

export const keyRecord = (accountId: string, keyHash: string) => ({
  keyHash,
  accountId,
  keyId: `id ${keyHash}`,
  name: null,
  hint: "asy_…abcd",
  scopes: "verify read account",
  createdAt: 1,
  lastUsedAt: null,
  expiresAt: null,
  rotatesAt: null,
  revokedAt: null,
});

const planPeriod = (accountId: string, month: typeof MONTH = MONTH): NewPlanPeriod => ({
  ...FREE,
  ...month,
  accountId,
  startsAt: month.periodStart,
});

export const signUp = (store: AccountingStore, accountId: string) =>
  store.signUp(accountRecord(accountId), keyRecord(accountId, `first ${accountId}`), planPeriod(accountId));

/** The plan period in which an account is. */
async function runningOf(store: AccountingStore, accountId: string) {
  const running = (await store.readMonth(accountId))?.planPeriods.at(-1);
  if (running === undefined) throw new Error("the account has no plan period");
  return running;
}

export async function unitsOf(store: AccountingStore, accountId: string): Promise<number> {
  return (await runningOf(store, accountId)).units;
}

const entryOf = (planPeriodId: number, units: number, endpoint = "/a", at = NOON): ChargeEntry => ({
  accountId: "acc_a",
  planPeriodId,
  at,
  endpoint,
  units,
  calls: 1,
});

export function replyRecord(idempotencyKey: string, more: Partial<ReplyRecord> = {}): ReplyRecord {
  const head = { accountId: "acc_a", idempotencyKey, fingerprint: "f", status: 200, expiresAt: 10 };
  return { ...head, headers: "{}", bodyBytes: 5, bodyFile: null, body: "x", ...more };
}

const noReply = () => null;

function invoiceOf(month: Month) {
  const { accountId, periodStart, periodEnd } = month;
  const sums = { units: 3, totalMicroUsd: 2, body: "{}", issuedAt: 3 };
  return { ...sums, accountId, periodStart, periodEnd, invoiceId: `inv_${accountId}_${periodStart}` };
}

const EVENT = { type: "invoice.issued", at: 3, data: { invoice_id: "inv" } };
const newInvoiceOf = (month: Month) => ({ invoice: invoiceOf(month), event: EVENT });

/** Takes acc_a into the next month. */
const enterNext = (store: AccountingStore) => store.enterMonth(["acc_a"], () => [planPeriod("acc_a", NEXT)]);

/** What every store must do, whatever it keeps its rows in. */
export function describeStore(
  name: string,
  open: (clock: Clock) => AccountingStore | Promise<AccountingStore>,
): void {
  async function opened(): Promise<AccountingStore> {
    const store = await open(clock);
    await signUp(store, "acc_a");
    return store;
  }

  describe(`${name}: signup`, () => {
    test("a normalized mailbox has one account; a second is refused without a trace", async () => {
      const store = await opened();
      const second = { ...accountRecord("acc_b"), normalized: "acc_a@example.com" };
      expect(await store.signUp(second, keyRecord("acc_b", "b"), planPeriod("acc_b"))).toBe(false);
      expect(await store.findAccount("acc_b")).toBeNull();
      expect(await store.findKey("b")).toBeNull();
      expect(await signUp(store, "acc_b")).toBe(true);
      expect(await store.findAccount("acc_b")).toEqual(accountRecord("acc_b"));
    });

    test("is atomic", async () => {
      const store = await opened();
      // The key of another account is taken, so the last of three rows cannot be written.
      const signup = async () =>
        store.signUp(accountRecord("acc_b"), keyRecord("acc_b", "first acc_a"), planPeriod("acc_b"));
      await expect(signup()).rejects.toThrow();
      expect(await store.findAccount("acc_b")).toBeNull();
    });

    test("begins a plan period, which runs", async () => {
      const store = await opened();
      const month = await store.readMonth("acc_a");
      expect(month?.account).toEqual(accountRecord("acc_a"));
      expect(month?.planPeriods).toMatchObject([{ ...planPeriod("acc_a"), units: 0, endsAt: null }]);
      expect(await store.readMonth("acc_none")).toBeNull();
    });
  });

  describe(`${name}: keys`, () => {
    test("a key is found with the plan of its account", async () => {
      const store = await opened();
      const found = await store.findKey("first acc_a");
      expect(found).toMatchObject({ ...keyRecord("acc_a", "first acc_a"), plan: "free" });
    });

    test("a rotation never makes an old key live longer, nor touches another account", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      await store.rotateKey(keyRecord("acc_a", "second"), { keyId: null, endsAt: 50 }, null);
      await store.rotateKey(keyRecord("acc_a", "third"), { keyId: null, endsAt: 100 }, replyRecord("r"));
      const hashes = ["first acc_a", "second", "third", "first acc_b"];
      const ends = await Promise.all(hashes.map(async (hash) => (await store.findKey(hash))?.expiresAt));
      expect(ends).toEqual([50, 100, null, null]);
      expect(await store.findReply("acc_a", "r")).toEqual(replyRecord("r"));
    });

    test("a key that is rotated at once is revoked, and one with an overlap is not", async () => {
      const store = await opened();
      const rotate = (keyId: string, endsAt: number, hash: string) =>
        store.rotateKey({ ...keyRecord("acc_a", hash), createdAt: 9 }, { keyId, endsAt }, null);
      await rotate("id first acc_a", 10, "second");
      await rotate("id second", 9, "third");
      const all = (await store.listKeys("acc_a", 0)).map(({ keyHash, rotatesAt, revokedAt }) => [
        keyHash,
        { rotatesAt, revokedAt },
      ]);
      expect(Object.fromEntries(all)).toEqual({
        "first acc_a": { rotatesAt: 10, revokedAt: null },
        second: { rotatesAt: 9, revokedAt: 9 },
        third: { rotatesAt: null, revokedAt: null },
      });
    });

    test("what ends at once ends at one moment, however far ahead the clock of the rotation is", async () => {
      const store = await opened();
      const at = Date.now() + 86_400_000;
      const key = { ...keyRecord("acc_a", "second"), createdAt: at };
      await store.rotateKey(key, { keyId: null, endsAt: at }, null);
      const { expiresAt, rotatesAt, revokedAt } = (await store.findKey("first acc_a")) ?? {};
      expect(rotatesAt).toBeNumber();
      expect([expiresAt, revokedAt]).toEqual([rotatesAt, rotatesAt]);
    });

    test("a rotation of one key leaves the others, and one of another account is not found", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      expect(await store.addKey(keyRecord("acc_a", "other"), 10, null)).toBe(true);
      const rotate = (keyId: string, hash: string) =>
        store.rotateKey(keyRecord("acc_a", hash), { keyId, endsAt: 50 }, null);
      expect(await rotate("id first acc_b", "x")).toBe(false);
      expect(await rotate("id first acc_a", "new")).toBe(true);
      const ends = (await store.listKeys("acc_a", 0)).map(({ keyHash, expiresAt }) => [keyHash, expiresAt]);
      expect(Object.fromEntries(ends)).toEqual({ "first acc_a": 50, other: null, new: null });
      expect((await store.findKey("first acc_b"))?.expiresAt).toBeNull();
    });

    test("a rotation that is checked and refused changes nothing", async () => {
      const store = await opened();
      const check = (working: readonly { readonly keyHash: string }[]) => {
        throw new Error(working.map(({ keyHash }) => keyHash).join());
      };
      const refuse = async () =>
        store.rotateKey(
          keyRecord("acc_a", "x"),
          { keyId: "id first acc_a", endsAt: 9, check },
          replyRecord("r"),
        );
      await expect(refuse()).rejects.toThrow("first acc_a");
      expect((await store.listKeys("acc_a", 0)).map(({ expiresAt }) => expiresAt)).toEqual([null]);
      expect(await store.findReply("acc_a", "r")).toBeNull();
    });

    test("no more keys work than the maximum, and ended ones make room", async () => {
      const store = await opened();
      expect(await store.addKey(keyRecord("acc_a", "second"), 2, null)).toBe(true);
      expect(await store.addKey(keyRecord("acc_a", "third"), 2, replyRecord("r"))).toBe(false);
      expect(await store.findReply("acc_a", "r")).toBeNull();
      expect(await store.revokeKey("acc_a", "id second", 1, () => {})).toBe(true);
      expect(await store.addKey(keyRecord("acc_a", "third"), 2, null)).toBe(true);
    });

    test("a deletion that is checked and refused changes nothing; a key is deleted once and listed for a while", async () => {
      const store = await opened();
      const refuse = async () =>
        store.revokeKey("acc_a", "id first acc_a", 7, () => {
          throw new Error("the last one");
        });
      await expect(refuse()).rejects.toThrow("the last one");
      expect((await store.findKey("first acc_a"))?.revokedAt).toBeNull();
      expect(await store.revokeKey("acc_b", "id first acc_a", 7, () => {})).toBe(false);
      expect(await store.revokeKey("acc_a", "id first acc_a", 7, () => {})).toBe(true);
      expect(await store.revokeKey("acc_a", "id first acc_a", 8, () => {})).toBe(false);
      expect((await store.listKeys("acc_a", 6)).map(({ revokedAt }) => revokedAt)).toEqual([7]);
      expect(await store.listKeys("acc_a", 7)).toEqual([]);
    });

    test("of the keys that have ended the last five hundred are listed beside all that work, oldest first", async () => {
      const store = await opened();
      // They end in another order than they were made in, by expiry and by revocation in turns.
      for (let n = 0; n < 530; n += 1) {
        const endsAt = 1_000 + ((n * 7) % 530);
        const key = { ...keyRecord("acc_a", `k${n}`), createdAt: 10 + n };
        await store.addKey(n % 2 === 0 ? { ...key, expiresAt: endsAt } : key, 1_000, null);
        if (n % 2 === 1) await store.revokeKey("acc_a", `id k${n}`, endsAt, () => {});
      }
      await store.addKey({ ...keyRecord("acc_a", "ending"), createdAt: 900, expiresAt: 9_000 }, 1_000, null);
      const hashes = (await store.listKeys("acc_a", 900, 2_000)).map(({ keyHash }) => keyHash);
      const last = Array.from({ length: 530 }, (_, n) => n).filter((n) => (n * 7) % 530 >= 30);
      expect(hashes).toEqual(["first acc_a", ...last.map((n) => `k${n}`), "ending"]);
      const later = await store.listKeys("acc_a", 1_527, 2_000);
      expect(later.map(({ expiresAt, revokedAt }) => revokedAt ?? expiresAt).sort()).toEqual([
        ...[1_528, 1_529, 9_000],
        null,
      ]);
    });

    test("keys that ended go a slice at a time, the others stay", async () => {
      const store = await opened();
      for (const endsAt of [10, 20, 30]) {
        await store.addKey({ ...keyRecord("acc_a", `expired ${endsAt}`), expiresAt: endsAt }, 99, null);
        await store.addKey(keyRecord("acc_a", `revoked ${endsAt}`), 99, null);
        await store.revokeKey("acc_a", `id revoked ${endsAt}`, endsAt, () => {});
      }
      expect(await store.removeEndedKeys(20, 3)).toBe(3);
      expect(await store.removeEndedKeys(20, 3)).toBe(1);
      expect(await store.removeEndedKeys(20, 3)).toBe(0);
      const left = (await store.listKeys("acc_a", 0)).map(({ keyHash }) => keyHash);
      expect(left.sort()).toEqual(["expired 30", "first acc_a", "revoked 30"]);
    });

    test.each([
      ["without an overlap", 0],
      ["with one", 1],
    ] as const)(
      "of keys that were rotated in a loop %s those go that are neither listed nor repeated with, some with each new one",
      async (_, overlapMs) => {
        const store = await opened();
        for (let n = 1; n <= 520; n += 1) {
          const at = n * 1_000;
          const key = { ...keyRecord("acc_a", `k${n}`), createdAt: at };
          await store.rotateKey(key, { keyId: null, endsAt: at + overlapMs }, null);
        }
        const ended = ["first acc_a", ...Array.from({ length: 519 }, (_, n) => `k${n + 1}`)];
        const left = async (): Promise<number> => {
          const found = await Promise.all(ended.map(async (hash) => store.findKey(hash)));
          return found.filter((key) => key !== null).length;
        };
        const counts = [await left()];
        // Ten ended more than 15 minutes ago at first, and all of them later; twenty are not listed.
        for (const createdAt of [910_500, 910_500, 910_500, 9_000_000, 9_000_000, 9_000_000]) {
          await store.addKey({ ...keyRecord("acc_a", `new ${counts.length}`), createdAt }, 99, null);
          counts.push(await left());
        }
        expect(counts).toEqual([520, 512, 510, 510, 502, 500, 500]);
        expect(await store.listKeys("acc_a", 0, 9_000_000)).toHaveLength(507);
      },
      60_000,
    );

    test("the last use of keys is kept", async () => {
      const store = await opened();
      await store.markKeysUsed([{ keyHash: "first acc_a", lastUsedAt: 9 }]);
      expect((await store.findKey("first acc_a"))?.lastUsedAt).toBe(9);
    });

    test("a key of no account is refused, and the reply with it", async () => {
      const store = await opened();
      const rotate = async () =>
        store.rotateKey(keyRecord("acc_none", "x"), { keyId: null, endsAt: 5 }, replyRecord("r"));
      await expect(rotate()).rejects.toThrow();
      expect(await store.findReply("acc_a", "r")).toBeNull();
    });
  });

  describe(`${name}: plan changes`, () => {
    test("plan, pending plan and spend limit are stored as decided", async () => {
      const store = await opened();
      const decision = { plan: "growth", pendingPlan: "free", spendLimitMicroUsd: 7, started: null };
      await store.changePlan("acc_a", () => decision, noReply);
      const { started: _, ...expected } = decision;
      expect(await store.findAccount("acc_a")).toEqual({ ...accountRecord("acc_a"), ...expected });
      await store.changePlan("acc_a", () => ({ plan: "growth", pendingPlan: null, started: null }), noReply);
      expect((await store.findAccount("acc_a"))?.spendLimitMicroUsd).toBe(7);
      const cleared = { plan: "growth", pendingPlan: null, spendLimitMicroUsd: null, started: null };
      await store.changePlan("acc_a", () => cleared, noReply);
      expect((await store.findAccount("acc_a"))?.spendLimitMicroUsd).toBeNull();
    });

    test("a plan period that begins ends the running one there; the reply is made of what is written", async () => {
      const store = await opened();
      const started = { ...planPeriod("acc_a"), ...GROWTH, startsAt: NOON };
      const after = await store.changePlan(
        "acc_a",
        ({ account }) => ({ plan: account.plan === "free" ? "growth" : "scale", pendingPlan: null, started }),
        ({ month }) => replyRecord("r", { body: month.planPeriods.map(({ plan }) => plan).join() }),
      );
      expect(after.month.planPeriods.map(({ plan, endsAt }) => [plan, endsAt])).toEqual([
        ["free", NOON],
        ["growth", null],
      ]);
      expect((await store.findReply("acc_a", "r"))?.body).toBe("free,growth");
    });

    test("are rolled back where the reply cannot be made", async () => {
      const store = await opened();
      const started = { ...planPeriod("acc_a"), ...GROWTH, startsAt: NOON };
      const change = async () =>
        store.changePlan(
          "acc_a",
          () => ({ plan: "growth", pendingPlan: null, started }),
          () => {
            throw new Error("no reply");
          },
        );
      await expect(change()).rejects.toThrow("no reply");
      expect(await store.findAccount("acc_a")).toEqual(accountRecord("acc_a"));
      expect((await runningOf(store, "acc_a")).plan).toBe("free");
    });
  });

  describe(`${name}: months`, () => {
    test("accounts of a month that is over are found, and enter the next with the pending plan", async () => {
      const store = await opened();
      await store.changePlan(
        "acc_a",
        () => ({ plan: "free", pendingPlan: "growth", started: null }),
        noReply,
      );
      expect(await store.accountsToEnter(MONTH.periodEnd - 1, 10)).toEqual([]);
      expect(await store.accountsToEnter(MONTH.periodEnd, 10)).toEqual(["acc_a"]);
      await store.enterMonth(["acc_a"], ({ pendingPlan }, { periodEnd }) => [
        { ...planPeriod("acc_a", NEXT), plan: pendingPlan ?? "", startsAt: periodEnd },
      ]);
      expect(await store.accountsToEnter(MONTH.periodEnd, 10)).toEqual([]);
      const month = await store.readMonth("acc_a");
      expect(month?.account).toMatchObject({ plan: "growth", pendingPlan: null });
      expect(month?.planPeriods).toMatchObject([{ ...NEXT, plan: "growth", endsAt: null }]);
    });

    test("are entered by all accounts or by none", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      const enter = async () =>
        store.enterMonth(["acc_a", "acc_b"], ({ accountId }) => {
          if (accountId === "acc_b") throw new Error("no");
          return [planPeriod(accountId, NEXT)];
        });
      await expect(enter()).rejects.toThrow("no");
      expect((await runningOf(store, "acc_a")).periodStart).toBe(MONTH.periodStart);
    });

    test("that need not be entered change nothing", async () => {
      const store = await opened();
      const before = await store.readMonth("acc_a");
      await store.enterMonth(["acc_a"], () => []);
      expect(await store.readMonth("acc_a")).toEqual(before);
    });
  });

  describe(`${name}: usage`, () => {
    test("a record adds up in events, counters and days alike, and keeps its replies", async () => {
      const store = await opened();
      const { planPeriodId } = await runningOf(store, "acc_a");
      const yesterday = NOON - 86_400_000;
      const entries = [
        entryOf(planPeriodId, 10, "/a", yesterday),
        entryOf(planPeriodId, 20),
        entryOf(planPeriodId, 7, "/b"),
        entryOf(planPeriodId, 5),
        entryOf(planPeriodId, 0),
      ];
      await store.record(
        { sums: chargeSums(entries), replies: [replyRecord("r")], chunks: [], quotaMarks: [], keptAt: NOON },
        "with_sync",
      );
      await store.sync();
      expect(await store.eventUnits()).toEqual([{ planPeriodId, units: 42 }]);
      expect(await runningOf(store, "acc_a")).toMatchObject({ units: 42, calls: 5 });
      expect(await store.usageByDay("acc_a", "2026-11-01", "2026-11-30")).toEqual([
        { day: "2026-11-19", calls: 1, units: 10 },
        { day: "2026-11-20", calls: 4, units: 32 },
      ]);
      const today = [
        { endpoint: "/a", calls: 3, units: 25 },
        { endpoint: "/b", calls: 1, units: 7 },
      ];
      expect(await store.usageByEndpoint("acc_a", "2026-11-20", "2026-11-20")).toEqual(today);
      expect(await store.usageByEndpoint("acc_b", "2026-11-20", "2026-11-20")).toEqual([]);
      expect(await store.findReply("acc_a", "r")).toEqual(replyRecord("r"));
      expect((await store.findKeptClock())?.keptAt).toBe(NOON);
      const { usage } = await store.readOverview("acc_a");
      expect(usage.map(({ units }) => units)).toEqual([35, 7]);
    });

    test("a record that can be written only in part leaves nothing", async () => {
      const store = await opened();
      const { planPeriodId } = await runningOf(store, "acc_a");
      const record = async () =>
        store.record(
          {
            sums: chargeSums([entryOf(planPeriodId, 5)]),
            replies: [replyRecord("r", { status: 0.5 })],
            chunks: [],
            quotaMarks: [],
            keptAt: NOON,
          },
          "at_once",
        );
      await expect(record()).rejects.toThrow();
      expect(await store.eventUnits()).toEqual([]);
      expect(await store.findKeptClock()).toBeNull();
      expect(await runningOf(store, "acc_a")).toMatchObject({ units: 0, calls: 0 });
    });

    test("once invoiced, a month takes no more units", async () => {
      const store = await opened();
      const { planPeriodId } = await runningOf(store, "acc_a");
      await enterNext(store);
      expect(await store.issueInvoices([{ accountId: "acc_a", ...MONTH }], newInvoiceOf)).toBe(1);
      const record = async () =>
        store.record(
          {
            sums: chargeSums([entryOf(planPeriodId, 1)]),
            replies: [],
            chunks: [],
            quotaMarks: [],
            keptAt: null,
          },
          "at_once",
        );
      await expect(record()).rejects.toThrow("never changes");
      expect(await store.eventUnits()).toEqual([]);
    });
  });

  describe(`${name}: invoices`, () => {
    const month = { accountId: "acc_a", ...MONTH };

    test("are due for plan periods that have ended in a month that is over", async () => {
      const store = await opened();
      const { planPeriodId } = await runningOf(store, "acc_a");
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd, 0, 10)).toEqual([]);
      await enterNext(store);
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd - 1, 0, 10)).toEqual([]);
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd, 0, 10)).toMatchObject([{ planPeriodId }]);
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd, planPeriodId, 10)).toEqual([]);
    });

    test("are issued once a month, and not where they are put off", async () => {
      const store = await opened();
      await enterNext(store);
      expect(await store.issueInvoices([month], noReply)).toBe(0);
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd, 0, 10)).toHaveLength(1);
      expect(await store.issueInvoices([month], newInvoiceOf)).toBe(1);
      expect(await store.planPeriodsToInvoice(MONTH.periodEnd, 0, 10)).toEqual([]);
      const again = (asked: Month) => ({
        invoice: { ...invoiceOf(asked), invoiceId: "inv_again" },
        event: EVENT,
      });
      expect(await store.issueInvoices([month], again)).toBe(0);
      expect(await store.invoicePage("acc_a", null, 10)).toEqual([invoiceOf(month)]);
    });

    test("are issued all or none", async () => {
      const store = await opened();
      await enterNext(store);
      let made = 0;
      const broken = async () =>
        store.issueInvoices([month, { ...month, ...NEXT }], (each) => {
          made += 1;
          if (made === 2) throw new Error("no");
          return newInvoiceOf(each);
        });
      await expect(broken()).rejects.toThrow("no");
      expect(await store.invoicePage("acc_a", null, 10)).toEqual([]);
    });

    test("pages are newest first and show none of other accounts", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      const next = { accountId: "acc_a", ...NEXT };
      const other = { accountId: "acc_b", ...MONTH };
      await store.issueInvoices([month, next, other], newInvoiceOf);
      const ids = async (after: string | null) =>
        (await store.invoicePage("acc_a", after, 10))?.map(({ invoiceId }) => invoiceId);
      const [older, newer] = [invoiceOf(month).invoiceId, invoiceOf(next).invoiceId];
      expect(await ids(null)).toEqual([newer, older]);
      expect(await ids(newer)).toEqual([older]);
      expect(await ids(older)).toEqual([]);
      expect(await ids(invoiceOf(other).invoiceId)).toBeUndefined();
    });
  });

  describe(`${name}: kept replies`, () => {
    const keep = (store: AccountingStore, replies: readonly ReplyRecord[]) =>
      store.record({ sums: [], replies, chunks: [], quotaMarks: [], keptAt: null }, "at_once");

    test("expired ones go a slice at a time; the rest stays", async () => {
      const store = await opened();
      const ends = [10, 20, 30, 40];
      await keep(
        store,
        ends.map((expiresAt, index) => replyRecord(`k${index}`, { expiresAt, bodyFile: `f${index}` })),
      );
      expect(await store.keptReplies()).toEqual([{ accountId: "acc_a", bytes: 20, count: 4 }]);
      const removed = (n: number) => ({
        ...{ accountId: "acc_a", idempotencyKey: `k${n}` },
        ...{ bodyBytes: 5, bodyFile: `f${n}` },
      });
      const first = [...(await store.removeExpiredReplies(30, 2))];
      first.sort((one, other) => ((one.bodyFile ?? "") < (other.bodyFile ?? "") ? -1 : 1));
      expect(first).toEqual([removed(0), removed(1)]);
      expect(await store.removeExpiredReplies(30, 2)).toEqual([removed(2)]);
      expect(await store.removeExpiredReplies(30, 2)).toEqual([]);
      expect(await store.keptReplies()).toEqual([{ accountId: "acc_a", bytes: 5, count: 1 }]);
      expect(await store.replyFiles()).toEqual(["f3"]);
      expect((await store.findReply("acc_a", "k3"))?.expiresAt).toBe(40);
    });

    test("a key of one account is kept once, the later reply in the place of the earlier", async () => {
      const store = await opened();
      await keep(store, [replyRecord("k"), replyRecord("k", { accountId: "acc_b" })]);
      await keep(store, [replyRecord("k", { body: "later" })]);
      expect((await store.findReply("acc_a", "k"))?.body).toBe("later");
      expect((await store.findReply("acc_b", "k"))?.body).toBe("x");
      expect(await store.findReply("acc_c", "k")).toBeNull();
    });
  });

  describe(`${name}: operators`, () => {
    const act = { at: 5, operator: "ann", action: "suspend", accountId: "acc_a", details: "{}" };

    test("an account that is suspended or erased keeps its id, and the act is recorded with it", async () => {
      const store = await opened();
      await store.suspendAccount("acc_a", 5, act);
      expect((await store.findAccountByMailbox("acc_a@example.com"))?.suspendedAt).toBe(5);
      await store.eraseAccount("acc_a", 6, { ...act, action: "erase" });
      expect(await store.findAccountByMailbox("acc_a@example.com")).toBeNull();
      expect(await store.findKey("first acc_a")).toBeNull();
      expect(await store.findAccount("acc_a")).toMatchObject({ email: "", company: null, erasedAt: 6 });
      expect((await store.acts(10)).map(({ action }) => action)).toEqual(["erase", "suspend"]);
    });

    test("an account that is erased takes no key and enters no plan from a process that has not heard of it", async () => {
      const store = await opened();
      await store.eraseAccount("acc_a", 6, { ...act, action: "erase" });
      const key = keyRecord("acc_a", "late");
      for (const change of [
        async () => store.addKey(key, 99, replyRecord("r")),
        async () => store.rotateKey(key, { keyId: null, endsAt: 5 }, replyRecord("r")),
        async () => store.replaceKeys(key, act),
        async () =>
          store.changePlan("acc_a", () => ({ plan: "scale", pendingPlan: null, started: null }), noReply),
      ]) {
        await expect(change()).rejects.toBeInstanceOf(AccountErasedError);
      }
      expect([await store.findKey("late"), await store.findReply("acc_a", "r")]).toEqual([null, null]);
      expect(await store.listKeys("acc_a", 0)).toEqual([]);
      expect((await store.acts(10)).map(({ action }) => action)).toEqual(["erase"]);
    });

    test("of an account that is erased no key is found at once, and those that ended go a slice at a time", async () => {
      const store = await opened();
      await signUp(store, "acc_b");
      for (const [name, expiresAt] of [
        ["ended 1", 3],
        ["ended 2", 4],
        ["ended 3", 5],
        ["ending", 7],
      ] as const)
        await store.addKey({ ...keyRecord("acc_a", name), expiresAt }, 99, null);
      expect(await store.clearErasedKeys("acc_a", 9)).toBe(0);
      await store.eraseAccount("acc_a", 6, { ...act, action: "erase" });
      for (const name of ["first acc_a", "ending", "ended 3"]) expect(await store.findKey(name)).toBeNull();
      const listed = async () => (await store.listKeys("acc_a", 0, 10)).map(({ keyHash }) => keyHash).sort();
      expect(await listed()).toEqual(["ended 1", "ended 2", "ended 3"]);
      expect([await store.clearErasedKeys("acc_a", 2), await store.clearErasedKeys("acc_a", 2)]).toEqual([
        2, 1,
      ]);
      expect([await store.clearErasedKeys("acc_a", 2), await listed()]).toEqual([0, []]);
      expect([await store.clearErasedKeys("acc_b", 9), await store.findKey("first acc_b")]).not.toContain(
        null,
      );
    });

    test("commands are taken in order, answered once, and removed when they are read", async () => {
      const store = await opened();
      const asked = { askedAt: 1, operator: "ann", command: "{}" };
      const [first, second] = [await store.askCommand(asked), await store.askCommand(asked)];
      expect((await store.nextCommand(0))?.commandId).toBe(first);
      expect((await store.nextCommand(first))?.commandId).toBe(second);
      await store.answerCommand(first, "done");
      expect(await store.withdrawCommand(first)).toBe(false);
      expect(await store.commandOutcome(first)).toBe("done");
      await store.removeCommand(first);
      expect(await store.withdrawCommand(second)).toBe(true);
      expect(await store.nextCommand(0)).toBeNull();
    });

    test("a command is unreported from its credit on: it is neither taken back nor without its mark at the next look", async () => {
      const store = await opened();
      const commandId = await store.askCommand({ askedAt: 1, operator: "ann", command: "{}" });
      const periods = async () => (await store.readOverview("acc_a")).month.planPeriods;
      const { planPeriodId = 0, creditedUnits = 0 } = (await periods()).at(-1) ?? {};
      await store.creditUnits(planPeriodId, 7, { ...act, action: "credit" }, commandId);
      expect((await periods()).at(-1)?.creditedUnits).toBe(creditedUnits + 7);
      expect(await store.nextCommand(0)).toMatchObject({ commandId, outcome: UNREPORTED });
      expect(await store.commandOutcome(commandId)).toBeNull();
      expect(await store.withdrawCommand(commandId)).toBe(false);
      await store.answerCommand(commandId, "done");
      expect(await store.commandOutcome(commandId)).toBe("done");
      expect(await store.nextCommand(0)).toBeNull();
    });

    test("a command has its outcome from its new key or its erasure on", async () => {
      const store = await opened();
      const ask = () => store.askCommand({ askedAt: 1, operator: "ann", command: "{}" });
      const [first, second] = [await ask(), await ask()];
      const key = { ...keyRecord("acc_a", "replacing"), createdAt: 10 };
      await store.replaceKeys(key, { ...act, action: "new-key" }, { commandId: first, outcome: "made" });
      const working = (await store.listKeys("acc_a", 10)).filter(({ revokedAt }) => revokedAt === null);
      expect(working.map(({ keyHash }) => keyHash)).toEqual(["replacing"]);
      expect(await store.commandOutcome(first)).toBe("made");
      expect((await store.nextCommand(0))?.commandId).toBe(second);
      await store.eraseAccount(
        "acc_a",
        11,
        { ...act, action: "erase" },
        { commandId: second, outcome: "erased" },
      );
      expect(await store.commandOutcome(second)).toBe("erased");
      expect(await store.nextCommand(0)).toBeNull();
      expect((await store.acts(2)).map(({ action }) => action)).toEqual(["erase", "new-key"]);
    });

    test("a command that was taken back or is done changes nothing", async () => {
      const store = await opened();
      const asked = { askedAt: 1, operator: "ann", command: "{}" };
      const [back, done] = [await store.askCommand(asked), await store.askCommand(asked)];
      await store.withdrawCommand(back);
      await store.answerCommand(done, "done");
      const month = (await store.readOverview("acc_a")).month;
      const { planPeriodId = 0 } = month.planPeriods.at(-1) ?? {};
      const key = { ...keyRecord("acc_a", "replacing"), createdAt: 10 };
      for (const commandId of [back, done]) {
        const answer = { commandId, outcome: "again" };
        for (const change of [
          async () => store.creditUnits(planPeriodId, 7, act, commandId),
          async () => store.replaceKeys(key, act, answer),
          async () => store.eraseAccount("acc_a", 11, act, answer),
          async () => store.suspendAccount("acc_a", 12, act, answer),
        ]) {
          await expect(change()).rejects.toBeInstanceOf(CommandEndedError);
        }
      }
      expect(await store.commandOutcome(done)).toBe("done");
      expect((await store.readOverview("acc_a")).month).toEqual(month);
      expect(await store.findKey("replacing")).toBeNull();
      expect(await store.findAccount("acc_a")).toMatchObject({ erasedAt: null, suspendedAt: null });
      expect(await store.acts(10)).toEqual([]);
    });

    test("the kept clock is the last one kept", async () => {
      const store = await open(clock);
      expect(await store.findKeptClock()).toBeNull();
      await store.keepClock(1);
      await store.keepClock(2);
      await store.confirmClock(9);
      expect(await store.findKeptClock()).toEqual({ keptAt: 2, confirmedAt: 9 });
    });
  });
}
