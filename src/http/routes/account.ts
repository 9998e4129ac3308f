import type { Static } from "@sinclair/typebox";
import type { AccountView } from "../../accounts/account-view.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import type { RotatedKey } from "../../accounts/key-rotation.ts";
import { parseUsd } from "../../billing/money.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import type { PlanBody, RotateBody } from "../../contract/result-schemas.ts";
import {
  changePlan,
  getAccount,
  getUsage,
  listInvoices,
} from "../../contract/specification/accounts/account.ts";
import type { RotatedKeyBody } from "../../contract/specification/accounts/account-replies.ts";
import { rotateKey } from "../../contract/specification/accounts/keys.ts";
import type { AccountChange, AccountRouting } from "../account-routes.ts";
import type { Route } from "../routing.ts";

export type AccountRouteDependencies = {
  readonly accountRouting: AccountRouting;
  readonly accounts: Accounts;
};

/** The account of the key: its state, usage, plan, invoices and keys. These calls cost no units. */
export function accountRoutes({ accountRouting, accounts }: AccountRouteDependencies): readonly Route[] {
  const { read, change } = accountRouting;
  return [
    read(getAccount, ({ accountId }) => accounts.view(accountId)),
    read(getUsage, ({ accountId }, { from, to, group_by }) =>
      accounts.usage(accountId, {
        from: from ?? null,
        to: to ?? null,
        groupBy: group_by ?? DEFAULTS.usageGroupBy,
      }),
    ),
    read(listInvoices, ({ accountId }, { limit, starting_after }) =>
      accounts.invoices(accountId, {
        limit: limit ?? DEFAULTS.invoicesLimit,
        startingAfter: starting_after ?? null,
      }),
    ),
    change(changePlan, planChange(accounts)),
    change(rotateKey, keyRotation(accounts)),
  ];
}

function planChange(accounts: Accounts): AccountChange<Static<typeof PlanBody>, AccountView, AccountView> {
  return {
    status: 200,
    make({ accountId }, { plan, spend_limit_usd }, replyOf) {
      const spendLimitMicroUsd =
        typeof spend_limit_usd === "string" ? parseUsd(spend_limit_usd) : spend_limit_usd;
      return accounts.changePlan(accountId, { plan, spendLimitMicroUsd }, replyOf);
    },
    viewOf: (view) => view,
    secret: false,
  };
}

function keyRotation(
  accounts: Accounts,
): AccountChange<Static<typeof RotateBody>, RotatedKey, RotatedKeyBody> {
  return {
    status: 201,
    make: ({ accountId, keyId }, { overlap_seconds }, replyOf) =>
      accounts.rotateKey(
        accountId,
        { overlapSeconds: overlap_seconds ?? DEFAULTS.overlapSeconds, keyId, isOfCall: true },
        replyOf,
      ),
    viewOf: ({ apiKey, oldKeyExpiresAt }) => ({ api_key: apiKey, old_key_expires_at: oldKeyExpiresAt }),
    secret: true,
  };
}
