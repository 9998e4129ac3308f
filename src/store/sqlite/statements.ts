import { createAccountStatements } from "./accounts/account-statements.ts";
import { createErasureStatements } from "./accounts/erasure-statements.ts";
import { createKeyUseStatements } from "./accounts/key-use-statements.ts";
import { createOperatorStatements } from "./accounts/operator-statements.ts";
import { createClockStatements } from "./billing/clock-statements.ts";
import { createInvoiceStatements } from "./billing/invoice-statements.ts";
import { createPlanPeriodStatements } from "./billing/plan-period-statements.ts";
import { createUsageStatements } from "./billing/usage-statements.ts";
import type { Orm } from "./connection/orm.ts";
import { createChunkClaimStatements } from "./jobs/chunk-claim-statements.ts";
import { createChunkStatements } from "./jobs/chunk-statements.ts";
import { createInputStatements } from "./jobs/input-statements.ts";
import { createJobStatements } from "./jobs/job-statements.ts";
import { createRoundStatements } from "./jobs/round-statements.ts";
import { createReplyStatements } from "./reply-statements.ts";
import { probes } from "./schema.ts";
import { createDeliveryStatements } from "./webhooks/delivery-statements.ts";
import { createWebhookStatements } from "./webhooks/webhook-statements.ts";

/** Creates the statements of all tables: what use cases are made of. */
export function createStatements(orm: Orm) {
  const inputs = createInputStatements(orm);
  const jobs = createJobStatements(orm, inputs);
  const chunks = createChunkStatements(orm);
  const deliveries = createDeliveryStatements(orm);
  return {
    accounts: createAccountStatements(orm),
    keyUses: createKeyUseStatements(orm),
    planPeriods: createPlanPeriodStatements(orm),
    usage: createUsageStatements(orm),
    invoices: createInvoiceStatements(orm),
    replies: createReplyStatements(orm),
    operators: createOperatorStatements(orm),
    erasures: createErasureStatements(orm, jobs),
    jobs,
    inputs,
    chunks,
    claims: createChunkClaimStatements(orm, jobs, chunks),
    rounds: createRoundStatements(orm, jobs),
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
