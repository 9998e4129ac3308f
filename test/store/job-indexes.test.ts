import { expect, test } from "bun:test";
import { testTenantOf } from "../../src/platform/test-tenant.ts";
import { UNFINISHED } from "../../src/store/job-records.ts";
import type { DeliveryRecord } from "../../src/store/webhook-port.ts";
import { jobRecord } from "./job-conformance.ts";
import { plansOf } from "./statement-plans.ts";
import { NOON } from "./store-conformance.ts";

const page = { accountId: "acc_a", status: null, afterJobId: null, limit: 20 };

test("an account with many deleted jobs is listed, and its unfinished ones counted, without a look at those", () => {
  expect(plansOf(({ jobs }) => jobs.page(page, undefined))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed_by_time (account_id=? AND is_test=?)",
  ]);
  expect(plansOf(({ jobs }) => jobs.countOf("acc_a", UNFINISHED))).toEqual([
    "SEARCH jobs USING INDEX jobs_of_account_by_status (account_id=? AND status=?)",
  ]);
});

test("the jobs of test keys, and those of one status, are listed without a look at the others", () => {
  expect(plansOf(({ jobs }) => jobs.page({ ...page, accountId: testTenantOf("acc_a") }, undefined))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed_by_time (account_id=? AND is_test=?)",
  ]);
  expect(plansOf(({ jobs }) => jobs.page({ ...page, status: "completed" }, undefined))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed_by_status (account_id=? AND is_test=? AND status=?)",
  ]);
});

test("a page far behind the newest job, or the newest delivery, is read without those before it", () => {
  const after = jobRecord("job_1");
  expect(plansOf(({ jobs }) => jobs.page(page, after))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed_by_time (account_id=? AND is_test=? AND (created_at,job_id)<(?,?))",
  ]);
  expect(plansOf(({ jobs }) => jobs.page({ ...page, status: "completed" }, after))).toEqual([
    "SEARCH jobs USING INDEX jobs_listed_by_status (account_id=? AND is_test=? AND status=? AND (created_at,job_id)<(?,?))",
  ]);
  const deliveries = { webhookId: "wh_1", afterDeliveryId: "dlv_1", since: NOON - 9, limit: 20 };
  const last: DeliveryRecord = {
    ...{
      deliveryId: "dlv_1",
      webhookId: "wh_1",
      accountId: "acc_a",
      url: null,
      eventId: "evt_1",
      type: "a",
      body: "",
    },
    ...{
      createdAt: NOON,
      state: "delivered",
      attempts: 1,
      scheduled: 0,
      lastAttemptAt: NOON,
      nextAttemptAt: null,
    },
    ...{ status: 200, error: null, latencyMs: 1, answer: null, claims: 1 },
  };
  expect(plansOf((statements) => statements.deliveries.page(deliveries, last))).toEqual([
    "SEARCH webhook_deliveries USING INDEX webhook_deliveries_by_webhook (webhook_id=? AND created_at>? AND (created_at,delivery_id)<(?,?))",
  ]);
});

test("an account is erased without a look at its ended jobs, and these are cleared in the order of an index", () => {
  expect(plansOf(({ erasures }) => erasures.deleteUnfinished("acc_a", 1))).toEqual([
    "SEARCH jobs USING INDEX jobs_of_account_by_status (account_id=? AND status=?)",
  ]);
  const account = { accountId: "acc_a", erasedAt: 1 };
  expect(
    plansOf(({ erasures }) => void erasures.deleteNext(account, { createdAt: 1, jobId: "job_1" }, 2)),
  ).toEqual(["SEARCH jobs USING INDEX jobs_by_account (account_id=? AND (created_at,job_id)>(?,?))"]);
});
