import type { Receipt, ReceiptCheck } from "../contract/receipt.ts";
import type { PaymentView } from "../contract/specification/payments/payment.ts";
import { sha256 } from "../platform/sha256.ts";
import { canonicalJson } from "../signing/canonical-json.ts";
import { isSignedBy, readJws } from "../signing/jws.ts";
import type { PublicKey } from "../signing/signing-key.ts";
import type { ReceiptStore } from "../store/receipt-port.ts";
import type { JsonValue } from "./choices.ts";
import { responseHash } from "./receipt-ledger.ts";

/** The outcome of checking a receipt. */
export type CheckedReceipt = {
  /** True where every check has passed. */
  readonly valid: boolean;
  /** Null where it is unreadable. */
  readonly receipt: Receipt | null;
  readonly checks: readonly ReceiptCheck[];
};

/** The parts of a call that the holder of its receipt has kept. */
export type KeptCall = { readonly request?: string; readonly choices?: readonly JsonValue[] };

/** Their hashes. */
export type KeptHashes = { readonly request?: string; readonly choices?: string | null };

/** The records of the server that issued a receipt. */
export type ReceiptRecords = {
  readonly store: Pick<ReceiptStore, "find" | "at">;
  readonly findPayment: (receipt: Receipt) => PaymentView | null;
};

/** Checks a receipt by itself: its form, its signature by one of the keys, and what was kept of the call. Pure. */
export function checkReceipt(jws: string, keys: readonly PublicKey[], kept: KeptCall = {}): CheckedReceipt {
  const { request, choices } = kept;
  return checkHashed(jws, keys, {
    ...(request === undefined ? {} : { request: sha256(request) }),
    ...(choices === undefined ? {} : { choices: responseHash(choices) }),
  });
}

function checkHashed(jws: string, keys: readonly PublicKey[], kept: KeptHashes): CheckedReceipt {
  const read = readJws(jws);
  const receipt = read === null ? null : readReceipt(read.payload);
  if (read === null || receipt === null) {
    return checked(null, [check("format", false, "This is no JWS with a receipt in canonical JSON.")]);
  }
  const key = keys.find(({ kid }) => kid === read.header.kid);
  const isSigned = key !== undefined && isSignedBy(read, key);
  const checks = [
    check("format", true, "A JWS whose payload is a receipt in canonical JSON."),
    check(
      "signature",
      isSigned,
      isSigned ? `Signed with the key ${key.kid}.` : "Not signed with a key of this service.",
    ),
  ];
  if (kept.request !== undefined) {
    const isSame = kept.request === receipt.request_sha256;
    checks.push(check("request", isSame, isSame ? "The request is the one." : "The request is another one."));
  }
  if (kept.choices !== undefined) {
    const isSame = kept.choices === receipt.response_sha256;
    checks.push(check("response", isSame, isSame ? "The answer is the one." : "The answer is another one."));
  }
  return checked(receipt, checks);
}

/** Checks a receipt also against what the server has on record: that it was issued, its place in the chain, its payment. */
export function checkRecorded(
  jws: string,
  keys: readonly PublicKey[],
  records: ReceiptRecords,
  kept: KeptHashes = {},
): CheckedReceipt {
  const { receipt, checks } = checkHashed(jws, keys, kept);
  if (receipt === null) return { valid: false, receipt, checks };
  const issued = records.store.find(receipt.receipt_id);
  const isIssued = issued?.jws === jws;
  const more = [
    check("issued", isIssued, isIssued ? "Issued here, to the letter." : "Not issued here like this."),
  ];
  if (isIssued) {
    const before = issued.position === 1 ? null : (records.store.at(issued.position - 1)?.sha256 ?? "");
    const isNext = before === receipt.prev_receipt_sha256;
    more.push(
      check("chain", isNext, isNext ? "Follows the receipt before it." : "The chain is broken before it."),
    );
    more.push(paymentCheck(receipt, records.findPayment(receipt)));
  }
  return checked(receipt, [...checks, ...more]);
}

function paymentCheck(receipt: Receipt, payment: PaymentView | null): ReceiptCheck {
  const isPaid =
    payment?.status === "settled" &&
    payment.amount === receipt.amount &&
    payment.network === receipt.network &&
    payment.pay_to === receipt.pay_to &&
    payment.transaction === receipt.transaction;
  return check("payment", isPaid, isPaid ? "The payment was settled." : "No payment like this was settled.");
}

function checked(receipt: Receipt | null, checks: readonly ReceiptCheck[]): CheckedReceipt {
  return { valid: checks.every(({ passed }) => passed), receipt, checks };
}

function check(name: ReceiptCheck["check"], passed: boolean, detail: string): ReceiptCheck {
  return { check: name, passed, detail };
}

/** Returns the receipt in a payload, where it is one, written canonically. */
function readReceipt(payload: string): Receipt | null {
  try {
    const receipt = JSON.parse(payload) as Receipt | null;
    const isReceipt = typeof receipt?.receipt_id === "string" && typeof receipt.request_sha256 === "string";
    return isReceipt && canonicalJson(receipt) === payload ? receipt : null;
  } catch {
    return null;
  }
}
