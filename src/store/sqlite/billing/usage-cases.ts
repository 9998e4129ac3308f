import type { AtOnce } from "../../../platform/answer.ts";
import type { ReplyPort, UsagePort } from "../../billing-port.ts";
import { planPeriodSums } from "../../charge-sums.ts";
import type { Connection } from "../connection/connection.ts";
import type { ChunkClaimStatements } from "../jobs/chunk-claim-statements.ts";
import type { ReplyStatements } from "../reply-statements.ts";
import { type EventStatements, emit } from "../webhooks/webhook-cases.ts";
import type { ClockStatements } from "./clock-statements.ts";
import type { PlanPeriodStatements } from "./plan-period-statements.ts";
import type { UsageStatements } from "./usage-statements.ts";

type Statements = EventStatements & {
  readonly planPeriods: PlanPeriodStatements;
  readonly usage: UsageStatements;
  readonly replies: ReplyStatements;
  readonly clock: ClockStatements;
  readonly claims: ChunkClaimStatements;
};

/** Charges, what they add up to, and the replies that are kept with them. */
export function createUsageCases(
  { planPeriods, usage, replies, clock, claims, webhooks, deliveries }: Statements,
  { transact, sync }: Connection,
): AtOnce<UsagePort & ReplyPort> {
  return {
    record: ({ sums, replies: kept, chunks, quotaMarks, keptAt }, durability) =>
      transact(() => {
        for (const [planPeriodId, { units, calls }] of planPeriodSums(sums)) {
          planPeriods.add(planPeriodId, units, calls);
        }
        for (const { accountId, planPeriodId, at, endpoint, units, calls, day } of sums) {
          if (units > 0) usage.insertEvent({ accountId, planPeriodId, at, endpoint, units });
          if (units > 0 || calls > 0) usage.addDay({ accountId, day, endpoint, calls, units });
        }
        for (const reply of kept) replies.put(reply);
        for (const chunk of chunks) claims.finish(chunk);
        for (const mark of quotaMarks)
          if (usage.addMark(mark)) emit({ webhooks, deliveries }, mark.accountId, mark.event);
        if (keptAt !== null) clock.keep(keptAt);
      }, durability),
    sync,
    usageByDay: usage.byDay,
    usageByEndpoint: usage.byEndpoint,
    eventUnits: usage.eventUnits,
    findReply: (accountId, idempotencyKey) => replies.find(accountId, idempotencyKey) ?? null,
    removeExpiredReplies: replies.removeExpired,
    replyFiles: replies.bodyFiles,
    keptReplies: replies.byAccount,
  };
}
