import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../../defaults.ts";
import { InvoicesQuery, UsageQuery } from "../../result-schemas.ts";
import { CHANGES_ACCOUNT_ONCE, described, jsonReply, operation, READS_ACCOUNT } from "../operation.ts";
import { Account, InvoicePage, Plans, SignedUp, Usage } from "./account-replies.ts";
import { PlanRequest, SignupRequest } from "./account-requests.ts";

export const listPlans = operation({
  operationId: "listPlans",
  method: "GET",
  path: "/v1/plans",
  tag: "Plans",
  summary: "The plans and their prices",
  access: "public",
  replies: { 200: jsonReply("The catalogue.", Plans) },
  samples: { plans: { summary: "The catalogue" } },
});

export const signUp = operation({
  operationId: "signUp",
  method: "POST",
  path: "/v1/signup",
  tag: "Account",
  summary: "Open an account",
  description: "Answers the key, which is shown this once. Limited per client address.",
  access: "public",
  body: { "application/json": SignupRequest },
  replies: {
    201: jsonReply("The account and its key.", SignedUp),
  },
  refusals: ["unusable_email", "account_exists"],
  samples: {
    free: { summary: "The free plan", status: 201, body: { email: "grace@analytical-engine.com" } },
    growth: {
      summary: "A paid plan",
      status: 201,
      body: {
        email: "charles@analytical-engine.com",
        name: "Charles",
        company: "Analytical Engine Ltd",
        country: "GB",
        plan: "growth",
      },
    },
    throwaway: { summary: "A throwaway address", status: 400, body: { email: "jane@mailinator.com" } },
    bad_plan: {
      summary: "No such plan",
      status: 400,
      body: { email: "jane@analytical-engine.com", plan: "gold" },
    },
  },
});

export const getAccount = operation({
  operationId: "getAccount",
  method: "GET",
  path: "/v1/account",
  tag: "Account",
  summary: "The account, its usage and what it will cost",
  ...READS_ACCOUNT,
  query: Type.Object({}),
  replies: { 200: jsonReply("The account of the key.", Account) },
  samples: { account: { summary: "An account" } },
});

export const changePlan = operation({
  operationId: "changePlan",
  method: "POST",
  path: "/v1/account/plan",
  tag: "Account",
  summary: "Change the plan or the spend limit",
  description:
    "An upgrade holds at once; its price and its included units are prorated by the second, and units beyond them cost the overage price. A downgrade holds from the next month on (`pending_plan`), and asking for the present plan again withdraws it. A spend limit refuses units beyond what it pays for; `null` lifts it, leaving it out keeps it.",
  ...CHANGES_ACCOUNT_ONCE,
  body: { "application/json": PlanRequest },
  replies: { 200: jsonReply("The account after the change.", Account) },
  samples: {
    upgrade: { summary: "An upgrade with a limit", body: { plan: "scale", spend_limit_usd: "900.00" } },
    downgrade: { summary: "A downgrade", body: { plan: "free" } },
    bad_plan: { summary: "No such plan", status: 400, body: { plan: "gold" } },
  },
});

export const getUsage = operation({
  operationId: "getUsage",
  method: "GET",
  path: "/v1/account/usage",
  tag: "Account",
  summary: "Calls and units by day or by endpoint",
  ...READS_ACCOUNT,
  query: described(UsageQuery, {
    from: "The first day, `2026-11-01`, not after the last. A day that there is. Without it: the first of the last day's month.",
    to: "The last day, included. Without it: today. At most 366 days.",
    group_by: `What a row is of; \`${DEFAULTS.usageGroupBy}\` where it is not named.`,
  }),
  replies: { 200: jsonReply("The usage.", Usage) },
  refusals: ["invalid_request"],
  samples: {
    by_day: { summary: "By day", query: { from: "2026-11-01", to: "2026-11-30" } },
    by_endpoint: { summary: "By endpoint", query: { group_by: "endpoint" } },
    bad_day: { summary: "No such day", status: 400, query: { from: "2026-02-30" } },
  },
});

export const listInvoices = operation({
  operationId: "listInvoices",
  method: "GET",
  path: "/v1/account/invoices",
  tag: "Account",
  summary: "Issued invoices, newest first",
  ...READS_ACCOUNT,
  query: described(InvoicesQuery, {
    limit: "Invoices on a page.",
    starting_after: "The `next_cursor` of the page before.",
  }),
  replies: { 200: jsonReply("A page.", InvoicePage) },
  refusals: ["invalid_request"],
  samples: {
    first: { summary: "The first page", query: { limit: 10 } },
    bad_limit: { summary: "An invalid limit", status: 400, query: { limit: 0 } },
  },
});
