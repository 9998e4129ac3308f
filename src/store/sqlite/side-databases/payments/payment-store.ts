import { and, asc, eq, getTableColumns, inArray, isNotNull, lte, sql } from "drizzle-orm";
import type { PaymentRow, PaymentStore } from "../../../payment-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { payments } from "./payment-schema.ts";

/** The statements of the payments' database. */
export function createPaymentStore(orm: Orm): PaymentStore {
  const thisPayment = eq(payments.paymentId, sql.placeholder("paymentId"));
  const { answer, ...columns } = getTableColumns(payments);
  const find = orm.select(columns).from(payments).where(thisPayment).prepare();
  const length = sql<number | null>`octet_length(${answer})`;
  const findLength = orm.select({ length }).from(payments).where(thisPayment).prepare();
  const findAnswer = orm.select({ answer }).from(payments).where(thisPayment).prepare();
  const update = (paymentId: string, values: Partial<PaymentRow>): void => {
    orm.update(payments).set(values).where(eq(payments.paymentId, paymentId)).run();
  };

  return {
    find: (paymentId: string): PaymentRow | undefined => {
      const row = find.get({ paymentId });
      if (row === undefined) return undefined;
      return {
        ...row,
        // Megabytes, which most who ask for a payment do not look at.
        get answer() {
          return findAnswer.get({ paymentId })?.answer ?? null;
        },
      };
    },

    answerLength: (paymentId: string): number => findLength.get({ paymentId })?.length ?? 0,

    insert: (row: PaymentRow): void => {
      orm.insert(payments).values(row).run();
    },

    resume: (paymentId: string): void => update(paymentId, { state: "settling", reason: null }),

    doubt: (paymentId: string): void => update(paymentId, { isDoubtful: true }),

    settle: (
      paymentId: string,
      settled: { transaction: string | null; payer: string | null; at: number },
    ): void =>
      update(paymentId, {
        state: "settled",
        reason: null,
        transaction: settled.transaction,
        settledAt: settled.at,
        request: null,
        ...(settled.payer === null ? {} : { payer: settled.payer }),
      }),

    release: (paymentId: string, reason: string, isDoubtful: boolean): void =>
      update(paymentId, { state: "released", reason, isDoubtful }),

    keepAnswer: (paymentId: string, answer: string): void => update(paymentId, { answer }),

    settling: (limit: number): { readonly paymentId: string }[] =>
      orm
        .select({ paymentId: payments.paymentId })
        .from(payments)
        .where(eq(payments.state, "settling"))
        .orderBy(asc(payments.createdAt))
        .limit(limit)
        .all(),

    removeExpiredAnswers: (now: number, limit: number): number => {
      const expired = orm
        .select({ paymentId: payments.paymentId })
        .from(payments)
        .where(and(lte(payments.answerExpiresAt, now), isNotNull(payments.answer)))
        .orderBy(asc(payments.answerExpiresAt))
        .limit(limit);
      return orm
        .update(payments)
        .set({ answer: null })
        .where(inArray(payments.paymentId, expired))
        .returning({ paymentId: payments.paymentId })
        .all().length;
    },

    // The head of the file is for the program's use, and unused. A payment could not be taken away again, a table for it
    // would keep former versions from opening the file, and a row that stays as it is is not written.
    probe: (): void => {
      orm.run(sql`PRAGMA user_version = 1`);
    },

    settledTotals: (): { readonly count: number; readonly microUsd: number } =>
      orm
        .select({
          count: sql<number>`count(*)`.mapWith(Number),
          microUsd: sql<number>`coalesce(sum(${payments.amountMicroUsd}), 0)`.mapWith(Number),
        })
        .from(payments)
        .where(eq(payments.state, "settled"))
        .get() ?? { count: 0, microUsd: 0 },
  };
}
