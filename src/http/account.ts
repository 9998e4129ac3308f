import { Elysia } from "elysia";
import type { AccountView } from "../accounts/account-view.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Account } from "../accounts/key-ring.ts";
import type { RotatedKey } from "../accounts/key-rotation.ts";
import type { Meter } from "../metering/meter.ts";
import { parseUsd } from "../metering/money.ts";
import type { Boundary, Call } from "./boundary.ts";
import type { Guard } from "./guard.ts";
import type { Idempotent } from "./idempotent.ts";
import { json } from "./reply.ts";
import { BODY_UNREAD, parseJson, readBytes, requireJson } from "./request-body.ts";
import { createReader } from "./schema.ts";
import { changePlan, getAccount, getUsage, listInvoices, rotateKey } from "./specification/account.ts";
import { InvoicesQuery, PlanBody, RotateBody, UsageQuery } from "./wire.ts";

export type AccountRouteParts = {
  readonly boundary: Boundary;
  readonly guard: Guard;
  readonly accounts: Accounts;
  readonly meter: Meter;
  readonly idempotent: Idempotent;
  readonly bodyBytesMax: number;
};

const usageQuery = createReader(UsageQuery);
const invoicesQuery = createReader(InvoicesQuery);
const planBody = createReader(PlanBody);
const rotateBody = createReader(RotateBody);

/** The account of the key: its state, usage, plan, invoices and keys. These calls cost no units. */
export function accountRoutes(parts: AccountRouteParts) {
  const { boundary, guard, accounts, meter } = parts;

  const read = <View>(route: string, view: (account: Account, call: Call) => View) =>
    boundary.route<View>(route, (call) => {
      const account = guard.admit(call);
      const reply = json(view(account, call));
      meter.countCall(account, route);
      return reply;
    });

  const write = <View, Body>(
    route: string,
    status: number,
    change: (account: Account, body: unknown, alongside: (view: View) => void) => View,
    bodyOf: (view: View) => Body,
    secret = false,
  ) =>
    boundary.route<Body>(route, async (call) => {
      const account = guard.admit(call);
      requireJson(call.request);
      const bytes = await readBytes(call.request, parts.bodyBytesMax);
      return parts.idempotent(
        call,
        account,
        bytes,
        async (entry) => {
          const keep = (view: View) => {
            entry?.keep({ status, headers: {}, body: JSON.stringify(bodyOf(view)) })();
          };
          const view = change(account, parseJson(bytes), keep);
          meter.countCall(account, route);
          return json(bodyOf(view), status);
        },
        { secret },
      );
    });

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
    .post(
      "/v1/account/plan",
      write(
        "/v1/account/plan",
        200,
        ({ accountId }, body, alongside: (view: AccountView) => void) => {
          const { plan, spend_limit_usd } = planBody.body(body);
          const spendLimitMicroUsd =
            typeof spend_limit_usd === "string" ? parseUsd(spend_limit_usd) : spend_limit_usd;
          return accounts.changePlan(accountId, { plan, spendLimitMicroUsd }, alongside);
        },
        (view) => view,
      ),
      { ...BODY_UNREAD, detail: changePlan },
    )
    .post(
      "/v1/account/keys/rotate",
      write(
        "/v1/account/keys/rotate",
        201,
        ({ accountId }, body, alongside: (rotated: RotatedKey) => void) => {
          const { overlap_seconds } = rotateBody.body(body);
          return accounts.rotateKey(accountId, { overlapSeconds: overlap_seconds ?? 0 }, alongside);
        },
        ({ apiKey, oldKeyExpiresAt }) => ({ api_key: apiKey, old_key_expires_at: oldKeyExpiresAt }),
        true,
      ),
      { ...BODY_UNREAD, detail: rotateKey },
    );
}
