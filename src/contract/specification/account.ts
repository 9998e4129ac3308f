import { Type } from "@sinclair/typebox";
import { DEFAULTS } from "../defaults.ts";
import { InvoicesQuery, UsageQuery } from "../result-schemas.ts";
import {
  Account,
  CreatedKey,
  InvoicePage,
  KeyList,
  Plans,
  RotatedKey,
  SignedUp,
  Usage,
} from "./account-replies.ts";
import { described, operation } from "./operation.ts";
import { KeyRequest, PlanRequest, RotateRequest, SignupRequest } from "./requests.ts";

export const listPlans = operation({
  operationId: "listPlans",
  method: "GET",
  path: "/v1/plans",
  tag: "Plans",
  summary: "The plans and their prices",
  access: "public",
  replies: { 200: { description: "The catalogue.", content: { "application/json": Plans } } },
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
    201: { description: "The account and its key.", content: { "application/json": SignedUp } },
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

const account = (description: string) => ({
  200: { description, content: { "application/json": Account } },
});

export const getAccount = operation({
  operationId: "getAccount",
  method: "GET",
  path: "/v1/account",
  tag: "Account",
  summary: "The account, its usage and what it will cost",
  access: "key",
  scopes: ["read"],
  query: Type.Object({}),
  replies: account("The account of the key."),
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
  access: "key",
  scopes: ["account"],
  idempotent: true,
  body: { "application/json": PlanRequest },
  replies: account("The account after the change."),
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
  access: "key",
  scopes: ["read"],
  query: described(UsageQuery, {
    from: "The first day, `2026-11-01`, not after the last. A day that there is. Without it: the first of the last day's month.",
    to: "The last day, included. Without it: today. At most 366 days.",
    group_by: `What a row is of; \`${DEFAULTS.usageGroupBy}\` where it is not named.`,
  }),
  replies: { 200: { description: "The usage.", content: { "application/json": Usage } } },
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
  access: "key",
  scopes: ["read"],
  query: described(InvoicesQuery, {
    limit: "Invoices on a page.",
    starting_after: "The `next_cursor` of the page before.",
  }),
  replies: { 200: { description: "A page.", content: { "application/json": InvoicePage } } },
  refusals: ["invalid_request"],
  samples: {
    first: { summary: "The first page", query: { limit: 10 } },
    bad_limit: { summary: "A limit that is none", status: 400, query: { limit: 0 } },
  },
});

export const rotateKey = operation({
  operationId: "rotateKey",
  method: "POST",
  path: "/v1/account/keys/rotate",
  tag: "Account",
  summary: "Exchange the key",
  description:
    "Gives a new key. The old one ends after the overlap. With an Idempotency-Key the reply is kept encrypted with the key of the call, and replayed to that key alone: until 15 minutes after it has ended, should the reply have been lost.",
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": RotateRequest },
  replies: { 201: { description: "The new key.", content: { "application/json": RotatedKey } } },
  samples: {
    overlap: { summary: "With a day to change over", status: 201, body: { overlap_seconds: 86_400 } },
    bad_overlap: { summary: "Too long", status: 400, body: { overlap_seconds: 9_999_999 } },
  },
});

export const listKeys = operation({
  operationId: "listKeys",
  method: "GET",
  path: "/v1/account/keys",
  tag: "Account",
  summary: "The keys of the account",
  description:
    "Those that work, and those that ended in the last 30 days. The keys themselves are shown once.",
  access: "key",
  scopes: ["account"],
  query: Type.Object({}),
  replies: { 200: { description: "The keys, oldest first.", content: { "application/json": KeyList } } },
});

export const createKey = operation({
  operationId: "createKey",
  method: "POST",
  path: "/v1/account/keys",
  tag: "Account",
  summary: "Make another key",
  description:
    "Scopes: `verify` for checks and batches, `read` to read the account, its usage and invoices, `account` for all; all of them unless it says otherwise. At most 100 keys work.",
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": KeyRequest },
  replies: {
    201: { description: "The key, shown this once.", content: { "application/json": CreatedKey } },
  },
});

const keyId = { key_id: "The `key_id` of a key that works." };

export const rotateKeyById = operation({
  operationId: "rotateKeyById",
  method: "POST",
  path: "/v1/account/keys/:key_id/rotate",
  parameters: keyId,
  tag: "Account",
  summary: "Exchange a key of the account",
  description: "The new key has the name and the scopes of the old one, which ends after the overlap.",
  access: "key",
  scopes: ["account"],
  idempotent: true,
  bodyRequired: false,
  body: { "application/json": RotateRequest },
  replies: { 201: { description: "The new key.", content: { "application/json": RotatedKey } } },
  refusals: ["not_found"],
});

export const deleteKey = operation({
  operationId: "deleteKey",
  method: "DELETE",
  path: "/v1/account/keys/:key_id",
  parameters: keyId,
  tag: "Account",
  summary: "End a key of the account at once",
  description: "The last key with the scope `account` cannot be deleted.",
  access: "key",
  scopes: ["account"],
  replies: { 204: { description: "The key is refused from now on." } },
  refusals: ["invalid_request", "not_found"],
});
