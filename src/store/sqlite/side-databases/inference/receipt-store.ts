import { and, asc, desc, eq, gt, isNotNull, isNull, lt } from "drizzle-orm";
import type { IssuedReceiptRow, ReceiptStore } from "../../../receipt-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { receiptDays, receipts } from "./inference-schema.ts";

const ISSUED = {
  receiptId: receipts.receiptId,
  paymentId: receipts.paymentId,
  position: receipts.position,
  day: receipts.day,
  jws: receipts.jws,
  sha256: receipts.sha256,
};

type SelectedRow = {
  readonly receiptId: string;
  readonly paymentId: string;
  readonly position: number | null;
  readonly day: string | null;
  readonly jws: string | null;
  readonly sha256: string | null;
};

/** The statements of the receipts. */
export function createReceiptStore(orm: Orm): ReceiptStore {
  const isIssued = isNotNull(receipts.position);

  return {
    open: (row) => {
      orm.insert(receipts).values(row).run();
    },

    issue: (receiptId, day, seal) =>
      orm.transaction(
        (transaction) => {
          const last = transaction
            .select({ position: receipts.position, sha256: receipts.sha256 })
            .from(receipts)
            .where(isIssued)
            .orderBy(desc(receipts.position))
            .limit(1)
            .get();
          const dayRow = transaction.select().from(receiptDays).where(eq(receiptDays.day, day)).get();
          const { jws, sha256, tree } = seal({
            previousSha256: last?.sha256 ?? null,
            tree: dayRow?.tree ?? null,
          });
          const values = { position: (last?.position ?? 0) + 1, day, jws, sha256 };
          const issued = transaction
            .update(receipts)
            .set(values)
            .where(and(eq(receipts.receiptId, receiptId), isNull(receipts.position)))
            .returning(ISSUED)
            .get();
          if (issued === undefined) throw new Error("no open receipt with this id");
          transaction
            .insert(receiptDays)
            .values({ day, tree })
            .onConflictDoUpdate({ target: receiptDays.day, set: { tree } })
            .run();
          return issuedRow(issued);
        },
        { behavior: "immediate" },
      ),

    find: (receiptId) => {
      const row = orm
        .select(ISSUED)
        .from(receipts)
        .where(and(eq(receipts.receiptId, receiptId), isIssued))
        .get();
      return row === undefined ? undefined : issuedRow(row);
    },

    at: (position) => {
      const row = orm.select(ISSUED).from(receipts).where(eq(receipts.position, position)).get();
      return row === undefined ? undefined : issuedRow(row);
    },

    findByPayment: (paymentId) => {
      const row = orm
        .select(ISSUED)
        .from(receipts)
        .where(and(eq(receipts.paymentId, paymentId), isIssued))
        .orderBy(desc(receipts.position))
        .limit(1)
        .get();
      return row === undefined ? undefined : issuedRow(row);
    },

    opened: (limit) =>
      orm
        .select({ receiptId: receipts.receiptId, paymentId: receipts.paymentId, begun: receipts.begun })
        .from(receipts)
        .where(isNull(receipts.position))
        .limit(limit)
        .all(),

    days: (before, limit) =>
      orm
        .select()
        .from(receiptDays)
        .where(lt(receiptDays.day, before))
        .orderBy(desc(receiptDays.day))
        .limit(limit)
        .all(),

    ofDay: (day, after, limit) =>
      orm
        .select(ISSUED)
        .from(receipts)
        .where(and(eq(receipts.day, day), gt(receipts.position, after)))
        .orderBy(asc(receipts.position))
        .limit(limit)
        .all()
        .map(issuedRow),
  };
}

function issuedRow({ receiptId, paymentId, position, day, jws, sha256 }: SelectedRow): IssuedReceiptRow {
  if (position === null || day === null || jws === null || sha256 === null) {
    throw new Error("a receipt that is not issued");
  }
  return { receiptId, paymentId, position, day, jws, sha256 };
}
