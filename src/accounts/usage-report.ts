import type { Period } from "../billing/period.ts";
import { ApiError } from "../contract/errors.ts";
import type { DayUsageBody, UsageBody } from "../contract/specification/accounts/account-replies.ts";
import { type Answer, after } from "../platform/answer.ts";
import { DAY_MS, dayOf } from "../platform/days.ts";
import type { UsagePort } from "../store/billing-port.ts";
import { momentOf } from "./moment.ts";

export type DayUsage = DayUsageBody;

/** The body of `GET /v1/account/usage`. */
export type UsageView = UsageBody;

export type UsageRange = {
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
  readonly groupBy: "day" | "endpoint";
};

const MOMENT_CHARS_MAX = 30;
const DAYS_MAX = 366;

/**
 * Returns the usage by day or by endpoint, from the first to the last day inclusive. By default the last day is today, and
 * the first one the first of its month. A time ("2026-11-20T10:00:00Z") means its day in UTC. Days without a call are
 * omitted.
 */
export function usageReport(
  store: Pick<UsagePort, "usageByDay" | "usageByEndpoint">,
  accountId: string,
  period: Period,
  now: number,
  range: UsageRange,
): Answer<UsageView> {
  const to = readDay("to", range.to) ?? dayOf(Math.min(Math.max(now, period.start), period.end - 1));
  const from = readDay("from", range.from) ?? `${to.slice(0, 7)}-01`;
  if (from > to) throw new ApiError("invalid_request", `from (${from}) must not be after to (${to}).`);
  if ((Date.parse(to) - Date.parse(from)) / DAY_MS >= DAYS_MAX) {
    throw new ApiError("invalid_request", `from and to may span at most ${DAYS_MAX} days.`);
  }
  const rows: Answer<UsageView["rows"]> =
    range.groupBy === "day"
      ? store.usageByDay(accountId, from, to)
      : store.usageByEndpoint(accountId, from, to);
  return after(rows, (found) => ({ from, to, group_by: range.groupBy, rows: found }));
}

function readDay(name: "from" | "to", text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  const at = text.length <= MOMENT_CHARS_MAX ? momentOf(text) : null;
  if (at === null) {
    throw new ApiError(
      "invalid_request",
      `${name} must be a date such as 2026-11-20 or 2026-11-20T10:00:00Z.`,
    );
  }
  return dayOf(at);
}
