import { createAccountStatements } from "./account-statements.ts";
import { createChunkClaimStatements } from "./chunk-claim-statements.ts";
import { createChunkStatements } from "./chunk-statements.ts";
import { createClockStatements } from "./clock-statements.ts";
import { createDeliveryStatements } from "./delivery-statements.ts";
import { createInvoiceStatements } from "./invoice-statements.ts";
import { createJobStatements } from "./job-statements.ts";
import { createOperatorStatements } from "./operator-statements.ts";
import type { Orm } from "./orm.ts";
import { createPlanPeriodStatements } from "./plan-period-statements.ts";
import { createReplyStatements } from "./reply-statements.ts";
import { probes } from "./schema.ts";
import { createUsageStatements } from "./usage-statements.ts";
import { createWebhookStatements } from "./webhook-statements.ts";

/** Creates the statements of all tables: what use cases are made of. */
export function createStatements(orm: Orm) {
  const jobs = createJobStatements(orm);
  const chunks = createChunkStatements(orm);
  const deliveries = createDeliveryStatements(orm);
  return {
    accounts: createAccountStatements(orm),
    planPeriods: createPlanPeriodStatements(orm),
    usage: createUsageStatements(orm),
    invoices: createInvoiceStatements(orm),
    replies: createReplyStatements(orm),
    operators: createOperatorStatements(orm),
    jobs,
    chunks,
    claims: createChunkClaimStatements(orm, jobs, chunks),
    deliveries,
    webhooks: createWebhookStatements(orm, deliveries),
    clock: createClockStatements(orm),
    /** Writes the one row of the probe. */
    probe: (at: number): void => {
      orm
        .insert(probes)
        .values({ probeId: 1, at })
        .onConflictDoUpdate({ target: probes.probeId, set: { at } })
        .run();
    },
  };
}
