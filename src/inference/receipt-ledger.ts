import type { Receipt } from "../contract/receipt.ts";
import type { SettledPayment } from "../payments/paid-call.ts";
import { sha256 } from "../platform/sha256.ts";
import { canonicalJson } from "../signing/canonical-json.ts";
import type { SigningKey } from "../signing/signing-key.ts";
import type { IssuedReceiptRow, ReceiptStore } from "../store/receipt-port.ts";
import type { JsonValue } from "./choices.ts";
import { leafHash, type MerkleTree, withLeaf } from "./merkle.ts";

/** What a receipt says of a call before its answer has ended. */
export type ReceiptBeginning = Omit<
  Receipt,
  "response_sha256" | "model_served" | "usage" | "finished_at" | "outcome" | "prev_receipt_sha256"
>;

/** What the end of an answer adds. */
export type ReceiptEnding = Pick<Receipt, "outcome" | "model_served" | "usage"> & {
  readonly choices: readonly JsonValue[];
};

/** What is known of a call that is paid for. */
export type PaidChat = {
  readonly resourceUrl: string;
  readonly quoteId: string | null;
  readonly requestSha256: string;
  readonly modelRequested: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly firstTokenMs: number;
};

export type ReceiptLedger = {
  /** Promises a receipt, so that there will be one whatever happens; returns its id. */
  readonly begin: (payment: SettledPayment, chat: PaidChat) => string;
  /** Signs the receipt and puts it at the end of the chain. */
  readonly issue: (receiptId: string, ending: ReceiptEnding) => IssuedReceiptRow;
  readonly findByPayment: (paymentId: string) => IssuedReceiptRow | undefined;
  /** Issues the receipts of answers that ended with a former process. */
  readonly issueInterrupted: () => number;
};

const OPENED_AT_ONCE = 500;

export function createReceiptLedger({
  store,
  signingKey,
  now,
  newReceiptId,
}: {
  readonly store: ReceiptStore;
  readonly signingKey: SigningKey;
  readonly now: () => number;
  readonly newReceiptId: () => string;
}): ReceiptLedger {
  /** What the open receipts of this process begin with. */
  const begun = new Map<string, ReceiptBeginning>();

  function issue(
    receiptId: string,
    beginning: ReceiptBeginning,
    { outcome, model_served, usage, choices }: ReceiptEnding,
  ): IssuedReceiptRow {
    const finished_at = new Date(now()).toISOString();
    const response_sha256 = choices.length === 0 ? null : responseHash(choices);
    return store.issue(receiptId, finished_at.slice(0, 10), ({ previousSha256, tree }) => {
      const receipt: Receipt = {
        ...beginning,
        response_sha256,
        finished_at,
        outcome,
        model_served: signable(model_served),
        usage: signable(usage),
        prev_receipt_sha256: previousSha256,
      };
      const jws = signingKey.sign(receipt);
      const before = tree === null ? [] : (JSON.parse(tree) as MerkleTree);
      return { jws, sha256: sha256(jws), tree: JSON.stringify(withLeaf(before, leafHash(jws))) };
    });
  }

  return {
    begin(payment, chat) {
      const beginning = beginningOf(newReceiptId(), payment, chat);
      const { receipt_id: receiptId } = beginning;
      store.open({ receiptId, paymentId: payment.paymentId, begun: JSON.stringify(beginning) });
      begun.set(receiptId, beginning);
      return receiptId;
    },
    issue(receiptId, ending) {
      const beginning = begun.get(receiptId);
      if (beginning === undefined) throw new Error("a receipt that was not begun, or is issued already");
      const row = issue(receiptId, beginning, ending);
      begun.delete(receiptId);
      return row;
    },
    findByPayment: store.findByPayment,
    issueInterrupted() {
      let count = 0;
      const ending: ReceiptEnding = { outcome: "interrupted", model_served: null, usage: null, choices: [] };
      for (;;) {
        const opened = store.opened(OPENED_AT_ONCE).filter(({ receiptId }) => !begun.has(receiptId));
        for (const { receiptId, begun: text } of opened) {
          issue(receiptId, JSON.parse(text) as ReceiptBeginning, ending);
          count += 1;
        }
        if (opened.length < OPENED_AT_ONCE) return count;
      }
    },
  };
}

/** Returns what an upstream said of an answer, where it can be signed: null for what has no canonical form. */
function signable<Value>(said: Value): Value | null {
  try {
    canonicalJson(said);
    return said;
  } catch {
    return null;
  }
}

/** Returns the hash of an answer, over the canonical JSON of its choices; null where they have none. */
export function responseHash(choices: readonly JsonValue[]): string | null {
  try {
    return sha256(canonicalJson(choices));
  } catch {
    return null;
  }
}

function beginningOf(receiptId: string, payment: SettledPayment, chat: PaidChat): ReceiptBeginning {
  return {
    receipt_id: receiptId,
    resource_url: chat.resourceUrl,
    payer: payment.payer,
    pay_to: payment.payTo,
    network: payment.network,
    asset: payment.asset,
    amount: String(payment.amountMicroUsd),
    quote_id: chat.quoteId,
    transaction: payment.transaction,
    payment_nonce: payment.nonce,
    request_sha256: chat.requestSha256,
    model_requested: chat.modelRequested,
    started_at: new Date(chat.startedAt).toISOString(),
    first_token_ms: Math.round(chat.firstTokenMs),
  };
}
