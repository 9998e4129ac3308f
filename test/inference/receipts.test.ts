import { describe, expect, test } from "bun:test";
import { createHash, generateKeyPairSync } from "node:crypto";
import type { Receipt } from "../../src/contract/receipt.ts";
import { leafHash, leavesOf, type MerkleTree, rootOf, withLeaf } from "../../src/inference/merkle.ts";
import { checkReceipt } from "../../src/inference/receipt-check.ts";
import { createReceiptLedger, responseHash } from "../../src/inference/receipt-ledger.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { sha256 } from "../../src/platform/sha256.ts";
import { createSigningKey } from "../../src/signing/signing-key.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";

const signingKey = createSigningKey(generateKeyPairSync("ed25519").privateKey);
const PAYMENT = {
  paymentId: "pay_1",
  x402Version: 2,
  network: "eip155:8453",
  payer: "0x1",
  payTo: "0x2",
  asset: "0x3",
  amountMicroUsd: 10_000,
  nonce: "0x4",
  transaction: "0x5",
} as const;
const CHAT = {
  resourceUrl: "https://inference.example/v1/chat/completions",
  quoteId: null,
  requestSha256: sha256("the request"),
  modelRequested: "m",
  startedAt: 1_800_000_000_000,
  firstTokenMs: 12.6,
};
const CHOICES = [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }];
const ENDING = {
  outcome: "complete",
  model_served: "m-1",
  usage: { total_tokens: 3 },
  choices: CHOICES,
} as const;

function openLedger() {
  const database = openInferenceDatabase(null, systemClock);
  let count = 0;
  const open = (now = () => 1_800_000_001_000) =>
    createReceiptLedger({
      store: database.receipts,
      signingKey,
      now,
      newReceiptId: () => `rcpt_${++count}`,
    });
  return {
    store: database.receipts,
    open,
    ledger: open(),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

function issueOne({ ledger }: Pick<ReturnType<typeof openLedger>, "ledger">, paymentId = "pay_1") {
  return ledger.issue(ledger.begin({ ...PAYMENT, paymentId }, CHAT), ENDING);
}

describe("a receipt", () => {
  test("says what was paid for what, by hashes alone", () => {
    using opened = openLedger();
    const { jws } = issueOne(opened);
    const { valid, receipt } = checkReceipt(jws, [signingKey.publicKey]);
    expect(valid).toBe(true);
    expect(receipt).toEqual({
      ...{ receipt_id: "rcpt_1", resource_url: CHAT.resourceUrl, payer: "0x1", pay_to: "0x2" },
      ...{ network: "eip155:8453", asset: "0x3", amount: "10000", quote_id: null, transaction: "0x5" },
      payment_nonce: "0x4",
      request_sha256: createHash("sha256").update("the request").digest("hex"),
      response_sha256: createHash("sha256")
        .update('[{"finish_reason":"stop","index":0,"message":{"content":"Hello","role":"assistant"}}]')
        .digest("hex"),
      ...{ model_requested: "m", model_served: "m-1", usage: { total_tokens: 3 } },
      ...{
        started_at: "2027-01-15T08:00:00.000Z",
        first_token_ms: 13,
        finished_at: "2027-01-15T08:00:01.000Z",
      },
      ...{ outcome: "complete", prev_receipt_sha256: null },
    });
  });

  test("with any field altered is refused", () => {
    using opened = openLedger();
    const { jws } = issueOne(opened);
    const [header = "", payload = "", signature = ""] = jws.split(".");
    const receipt = JSON.parse(Buffer.from(payload, "base64url").toString()) as Receipt;
    for (const name of Object.keys(receipt) as (keyof Receipt)[]) {
      const value = receipt[name];
      const altered = {
        ...receipt,
        [name]: typeof value === "string" ? `${value}0` : value === null ? "x" : null,
      };
      const text = Buffer.from(JSON.stringify(altered)).toString("base64url");
      expect(checkReceipt(`${header}.${text}.${signature}`, [signingKey.publicKey]).valid).toBe(false);
    }
  });

  test("is not taken in another spelling, with another algorithm, or from another key", () => {
    using opened = openLedger();
    const { jws } = issueOne(opened);
    const [header = "", payload = "", signature = ""] = jws.split(".");
    const other = createSigningKey(generateKeyPairSync("ed25519").privateKey);
    const none = Buffer.from(JSON.stringify({ alg: "none", kid: signingKey.publicKey.kid })).toString(
      "base64url",
    );
    for (const odd of [
      `${jws}=`,
      `${jws}.`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -2)}`,
      `${header}.${payload}`,
      "",
    ]) {
      expect(checkReceipt(odd, [signingKey.publicKey]).valid).toBe(false);
    }
    expect(checkReceipt(jws, [other.publicKey]).valid).toBe(false);
    const claimed = { ...other.publicKey, kid: signingKey.publicKey.kid };
    expect(checkReceipt(jws, [claimed]).valid).toBe(false);
  });

  test("is held against the request and the answer that were kept", () => {
    using opened = openLedger();
    const { jws } = issueOne(opened);
    const keys = [signingKey.publicKey];
    expect(checkReceipt(jws, keys, { request: "the request", choices: CHOICES }).valid).toBe(true);
    expect(checkReceipt(jws, keys, { request: "the request " }).valid).toBe(false);
    expect(checkReceipt(jws, keys, { choices: [...CHOICES, ...CHOICES] }).valid).toBe(false);
    // The order of fields is no difference.
    const [choice] = CHOICES;
    const reordered = Object.fromEntries(Object.entries(choice ?? {}).toReversed());
    expect(checkReceipt(jws, keys, { choices: [reordered as (typeof CHOICES)[0]] }).valid).toBe(true);
  });
});

describe("the chain", () => {
  test("goes from each receipt to the one before, and the day's root holds all of them", () => {
    using opened = openLedger();
    const rows = Array.from({ length: 37 }, (_, at) => issueOne(opened, `pay_${at}`));
    for (const [at, { jws, sha256: own, position }] of rows.entries()) {
      expect(position).toBe(at + 1);
      expect(own).toBe(createHash("sha256").update(jws).digest("hex"));
      const { receipt } = checkReceipt(jws, [signingKey.publicKey]);
      expect(receipt?.prev_receipt_sha256 ?? null).toBe(rows[at - 1]?.sha256 ?? null);
    }
    const [day] = opened.store.days("9999", 10);
    const tree = JSON.parse(day?.tree ?? "[]") as MerkleTree;
    expect(leavesOf(tree)).toBe(37);
    expect(rootOf(tree)).toBe(plainRoot(rows.map(({ jws }) => jws)));
  });

  test("shows each receipt that was removed, put elsewhere or put in, and so does the day's root", () => {
    using opened = openLedger();
    const receipts = Array.from({ length: 12 }, (_, at) => issueOne(opened, `pay_${at}`).jws);
    const [day] = opened.store.days("9999", 10);
    const root = rootOf(JSON.parse(day?.tree ?? "[]") as MerkleTree);
    // As anyone does who has the receipts and the published key and root.
    const isChain = (list: readonly string[]): boolean => {
      let before: string | null = null;
      return list.every((jws) => {
        const { valid, receipt } = checkReceipt(jws, [signingKey.publicKey]);
        const isNext = valid && receipt?.prev_receipt_sha256 === before;
        before = createHash("sha256").update(jws).digest("hex");
        return isNext;
      });
    };
    expect([isChain(receipts), plainRoot(receipts)]).toEqual([true, root]);
    const lists: { readonly list: readonly string[]; readonly isLast: boolean }[] = [];
    for (const [at, jws] of receipts.entries()) {
      const isLast = at === receipts.length - 1;
      lists.push({ list: receipts.toSpliced(at, 1), isLast });
      lists.push({ list: receipts.toSpliced(at, 0, jws), isLast: false });
      for (let to = at + 1; to < receipts.length; to += 1) {
        lists.push({ list: receipts.with(at, receipts[to] ?? "").with(to, jws), isLast: false });
      }
    }
    expect(lists.length).toBe(90);
    // That nothing follows the last receipt, the root alone can say.
    for (const { list, isLast } of lists)
      expect([isChain(list), plainRoot(list) === root]).toEqual([isLast, false]);
  });

  test("has the receipts of answers that ended with the process, which say so", () => {
    using opened = openLedger();
    opened.ledger.begin(PAYMENT, CHAT);
    opened.ledger.begin({ ...PAYMENT, paymentId: "pay_2" }, CHAT);
    issueOne(opened, "pay_3");
    const next = opened.open();
    expect(next.issueInterrupted()).toBe(2);
    expect(next.issueInterrupted()).toBe(0);
    const row = next.findByPayment("pay_1");
    const { receipt } = checkReceipt(row?.jws ?? "", [signingKey.publicKey]);
    expect([receipt?.outcome, receipt?.response_sha256]).toEqual(["interrupted", null]);
    expect(receipt?.prev_receipt_sha256).not.toBeNull();
  });

  test("is never changed: the database refuses it", () => {
    using opened = openLedger();
    const { receiptId } = issueOne(opened);
    expect(() =>
      opened.store.issue(receiptId, "2027-01-15", () => ({ jws: "x", sha256: "y", tree: "[]" })),
    ).toThrow();
    expect(opened.store.find(receiptId)?.position).toBe(1);
  });

  test("of each day has a root of its own", () => {
    using opened = openLedger();
    issueOne(opened);
    issueOne({ ledger: opened.open(() => 1_800_000_001_000 + 86_400_000) }, "pay_2");
    const days = opened.store.days("9999", 10);
    expect(days.map(({ day }) => day)).toEqual(["2027-01-16", "2027-01-15"]);
    expect(days.map(({ tree }) => leavesOf(JSON.parse(tree)))).toEqual([1, 1]);
  });
});

test("a tree that grows leaf by leaf has the root that RFC 9162 gives the whole", () => {
  let tree: MerkleTree = [];
  const entries: string[] = [];
  expect(rootOf(tree)).toBe(plainRoot([]));
  for (let count = 1; count <= 130; count += 1) {
    entries.push(`entry ${count}`);
    tree = withLeaf(tree, leafHash(`entry ${count}`));
    expect(rootOf(tree)).toBe(plainRoot(entries));
    expect(tree.length).toBeLessThanOrEqual(8);
  }
});

test("what an upstream says that cannot be signed is left out of the receipt", () => {
  using opened = openLedger();
  const odd = { ...ENDING, model_served: "\ud800", usage: { total_tokens: "\udc00" } };
  const { jws } = opened.ledger.issue(opened.ledger.begin(PAYMENT, CHAT), odd);
  const { valid, receipt } = checkReceipt(jws, [signingKey.publicKey]);
  expect([valid, receipt?.model_served, receipt?.usage]).toEqual([true, null, null]);
});

test("an answer that has no canonical form has no hash", () => {
  expect(responseHash([{ message: "\ud800" }])).toBeNull();
});

/** RFC 9162, 2.1.1, as it stands there. */
function plainRoot(entries: readonly string[]): string {
  const hash = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  const root = (list: readonly string[]): Buffer => {
    if (list.length === 0) return hash();
    if (list.length === 1) return hash(Buffer.from([0]), Buffer.from(list[0] ?? ""));
    let split = 1;
    while (split * 2 < list.length) split *= 2;
    return hash(Buffer.from([1]), root(list.slice(0, split)), root(list.slice(split)));
  };
  return root(entries).toString("hex");
}
