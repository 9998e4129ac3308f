import { Elysia } from "elysia";
import type { AccountView } from "../../accounts/account-view.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { RotatedKey } from "../../accounts/key-rotation.ts";
import { parseUsd } from "../../billing/money.ts";
import { InvoicesQuery, PlanBody, RotateBody, UsageQuery } from "../../contract/result-schemas.ts";
import { createReader } from "../../contract/schema.ts";
import {
  changePlan,
  getAccount,
  getUsage,
  listInvoices,
  rotateKey,
} from "../../contract/specification/account.ts";
import { type AccountCallParts, type AccountChange, accountCalls } from "../account-call.ts";
import { BODY_UNREAD } from "../request-body.ts";

export type AccountRouteParts = AccountCallParts & { readonly accounts: Accounts };

const usageQuery = createReader(UsageQuery);
const invoicesQuery = createReader(InvoicesQuery);
const planBody = createReader(PlanBody);
const rotateBody = createReader(RotateBody);

/** The account of the key: its state, usage, plan, invoices and keys. These calls cost no units. */
export function accountRoutes({ accounts, ...parts }: AccountRouteParts) {
  const { read, write } = accountCalls(parts);
  return new Elysia({ name: "account" })
    .get(
      "/v1/account",
      read("/v1/account", (account) => accounts.view(account.accountId)),
      { detail: getAccount },
    )
    .get(
      "/v1/account/usage",
      read("/v1/account/usage", ({ accountId }, { request }) => {
        const { from, to, group_by } = usageQuery.query(request.url);
        return accounts.usage(accountId, { from: from ?? null, to: to ?? null, groupBy: group_by ?? "day" });
      }),
      { detail: getUsage },
    )
    .get(
      "/v1/account/invoices",
      read("/v1/account/invoices", ({ accountId }, { request }) => {
        const { limit, starting_after } = invoicesQuery.query(request.url);
        return accounts.invoices(accountId, { limit: limit ?? 10, startingAfter: starting_after ?? null });
      }),
      { detail: listInvoices },
    )
    .post("/v1/account/plan", write("/v1/account/plan", planChange(accounts)), {
      ...BODY_UNREAD,
      detail: changePlan,
    })
    .post("/v1/account/keys/rotate", write("/v1/account/keys/rotate", keyRotation(accounts)), {
      ...BODY_UNREAD,
      detail: rotateKey,
    });
}

function planChange(accounts: Accounts): AccountChange<AccountView, AccountView> {
  return {
    status: 200,
    make({ accountId }, body, alongside) {
      const { plan, spend_limit_usd } = planBody.body(body);
      const spendLimitMicroUsd =
        typeof spend_limit_usd === "string" ? parseUsd(spend_limit_usd) : spend_limit_usd;
      return accounts.changePlan(accountId, { plan, spendLimitMicroUsd }, alongside);
    },
    bodyOf: (view) => view,
    secret: false,
  };
}

type RotatedKeyView = { readonly api_key: string; readonly old_key_expires_at: string };

function keyRotation(accounts: Accounts): AccountChange<RotatedKey, RotatedKeyView> {
  return {
    status: 201,
    make({ accountId }, body, alongside) {
      const { overlap_seconds } = rotateBody.body(body);
      return accounts.rotateKey(accountId, { overlapSeconds: overlap_seconds ?? 0 }, alongside);
    },
    bodyOf: ({ apiKey, oldKeyExpiresAt }) => ({ api_key: apiKey, old_key_expires_at: oldKeyExpiresAt }),
    secret: true,
  };
}
