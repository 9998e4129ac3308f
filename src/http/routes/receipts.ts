import { ApiError } from "../../contract/errors.ts";
import type { Receipt } from "../../contract/receipt.ts";
import { bodyReader, queryReader } from "../../contract/schema.ts";
import { getReceiptDay, listReceiptRoots } from "../../contract/specification/inference/receipt-roots.ts";
import { getReceipt, postReceiptVerification } from "../../contract/specification/inference/receipts.ts";
import type { PaymentView } from "../../contract/specification/payments/payment.ts";
import type { JsonValue } from "../../inference/choices.ts";
import { leafHash, leavesOf, type MerkleTree, rootOf } from "../../inference/merkle.ts";
import { checkRecorded } from "../../inference/receipt-check.ts";
import { responseHash } from "../../inference/receipt-ledger.ts";
import { receiptPage } from "../../inference/receipt-page.ts";
import { dayOf } from "../../platform/days.ts";
import { sha256 } from "../../platform/sha256.ts";
import { atOnce, type Steps } from "../../platform/steps.ts";
import { readJws } from "../../signing/jws.ts";
import type { PublicKey, SigningKey } from "../../signing/signing-key.ts";
import type { ReceiptDay, ReceiptStore } from "../../store/receipt-port.ts";
import type { BodyReader } from "../bodies/body-reader.ts";
import { parseJsonInSteps, requireJson, SMALL_BODY_BYTES_MAX } from "../bodies/request-body.ts";
import type { Call } from "../call.ts";
import { clientAddressKey } from "../client-address-key.ts";
import { weightOf } from "../negotiation.ts";
import { json, type Reply } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type ReceiptRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly store: Pick<ReceiptStore, "find" | "at" | "days" | "ofDay">;
  readonly keys: readonly PublicKey[];
  readonly signingKey: Pick<SigningKey, "sign">;
  readonly findPayment: (receipt: Receipt) => PaymentView | null;
  readonly clock: { readonly now: () => number };
  /** Of what is sent to be checked. */
  readonly bodyBytesMax: number;
  readonly bodies: Pick<BodyReader, "read">;
  /** For all that is done with large bodies. */
  readonly step: Steps;
};

const DAYS_MAX = 100;
const ENTRIES_MAX = 1000;
const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
/** An issued receipt never changes; what is found of it may, where the records do. */
const SHORTLY = { "Cache-Control": "public, max-age=60", Vary: "Accept" };

/** Receipts, for anyone: one of them checked, one sent in checked, and the roots that hold each day together. */
export function receiptRoutes(dependencies: ReceiptRouteDependencies): readonly Route[] {
  const { routing, store, keys, findPayment, bodies, bodyBytesMax } = dependencies;
  const records = { store, findPayment };
  const verification = bodyReader(postReceiptVerification);
  const rootsQuery = queryReader(listReceiptRoots);
  const dayQuery = queryReader(getReceiptDay);
  return [
    routing.public(listReceiptRoots, ({ request }) => {
      const { before = "9999-99-99" } = rootsQuery(request.url);
      const today = dayOf(dependencies.clock.now());
      const roots = store.days(before, DAYS_MAX).map((day) => rootView(dependencies, day, today));
      return { ...json({ roots }), headers: { "Cache-Control": "public, max-age=10" } };
    }),
    routing.public(getReceiptDay, ({ request, params }) => {
      const { after = 0 } = dayQuery(request.url);
      const day = params.day ?? "";
      const rows = store.ofDay(day, after, ENTRIES_MAX);
      if (rows.length === 0 && after === 0)
        throw new ApiError("not_found", "No receipt was issued on this day.");
      const entries = rows.map(({ position, receiptId, sha256, jws }) => ({
        position,
        receipt_id: receiptId,
        sha256,
        leaf: leafHash(jws),
      }));
      const next = rows.length === ENTRIES_MAX ? (rows.at(-1)?.position ?? null) : null;
      return json({ day, entries, next_after: next });
    }),
    routing.public(postReceiptVerification, async (call) => {
      const tenant = clientAddressKey(call.clientAddress());
      using held = await bodies.read(call.request, { tenant, callBytesMax: bodyBytesMax });
      requireJson(call.request, held.bytes);
      const step = held.bytes.byteLength > SMALL_BODY_BYTES_MAX ? dependencies.step : atOnce;
      const { receipt, request, choices } = verification(await parseJsonInSteps(held.bytes, step));
      const { valid, checks } = checkRecorded(receipt, keys, records, {
        ...(request === undefined ? {} : { request: await step(() => sha256(request)) }),
        ...(choices === undefined
          ? {}
          : { choices: await step(() => responseHash(choices as readonly JsonValue[])) }),
      });
      return { ...json({ valid, checks }), headers: { "Cache-Control": "no-store" } };
    }),
    routing.public(getReceipt, (call) => receiptReply(call, dependencies)),
  ];
}

function receiptReply({ request, params }: Call, dependencies: ReceiptRouteDependencies): Reply {
  const { store, keys, findPayment } = dependencies;
  const issued = store.find(params.receipt_id ?? "");
  if (issued === undefined) {
    throw new ApiError("not_found", "There is no such receipt, or its answer has not ended yet.");
  }
  const { valid, receipt, checks } = checkRecorded(issued.jws, keys, { store, findPayment });
  const kid = readJws(issued.jws)?.header.kid;
  const view = {
    receipt_id: issued.receiptId,
    valid,
    receipt,
    jws: issued.jws,
    key: keys.find((key) => key.kid === kid) ?? null,
    checks,
    day: issued.day,
  };
  const accept = request.headers.get("accept") ?? "";
  const isPage = weightOf(accept, "text/html") > weightOf(accept, "application/json");
  if (!isPage) return { ...json(view), headers: SHORTLY };
  return { status: 200, body: receiptPage(view), headers: { ...PAGE_HEADERS, ...SHORTLY } };
}

function rootView({ signingKey }: ReceiptRouteDependencies, { day, tree }: ReceiptDay, today: string) {
  const subtrees = JSON.parse(tree) as MerkleTree;
  const signed = { day, receipts: leavesOf(subtrees), root: rootOf(subtrees), is_final: day < today };
  return { ...signed, signature: signingKey.sign(signed) };
}
