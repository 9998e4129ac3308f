import { type Static, Type } from "@sinclair/typebox";
import { KEY_SCOPES, PLAN_NAMES } from "../../words.ts";
import {
  type Body,
  count,
  moment,
  nullable,
  text,
  textOrNull,
  usd,
  usdOrNull,
  word,
  wordOrNull,
} from "../reply-schema.ts";

const PlanName = word(PLAN_NAMES, "The name of the plan.");

export const Plan = Type.Object(
  {
    plan: PlanName,
    monthly_price_usd: Type.String({ pattern: "^\\d+\\.\\d{2}$" }),
    included_units: count("Units that the monthly price pays for."),
    overage_unit_price_usd: nullable(
      Type.String({ pattern: "^\\d+\\.\\d{6}$" }),
      "The price of each unit beyond; null: the included units are a hard stop.",
    ),
    requests_per_second: count("Calls a second, in the long run."),
    burst: count("Calls that a caller who was quiet may make at once."),
    max_batch_size: count("Items in one batch."),
    max_job_size: count("Rows of one job."),
    max_jobs: count("Jobs that are not finished, at once."),
  },
  { $id: "Plan" },
);

export const Plans = Type.Object(
  {
    currency: Type.Literal("USD"),
    plans: Type.Array(Plan, { description: "Cheapest first." }),
  },
  { $id: "Plans" },
);

export const SignedUp = Type.Object(
  {
    account_id: text("The account."),
    api_key: Type.String({
      pattern: "^asy_(test_)?[0-9A-Za-z]{36}$",
      description: "The key. It is shown this once: only its hash is kept.",
    }),
  },
  { $id: "SignedUp" },
);

export const RotatedKey = Type.Object(
  {
    api_key: Type.String({
      pattern: "^asy_(test_)?[0-9A-Za-z]{36}$",
      description: "The new key, shown this once.",
    }),
    old_key_expires_at: moment("Until when the old key is taken."),
  },
  { $id: "RotatedKey" },
);
export type RotatedKeyBody = Static<typeof RotatedKey>;

const keyFields = {
  key_id: text("The key's name in this API."),
  name: textOrNull("As given when it was made."),
  hint: text("Prefix and last four characters."),
  mode: word(["live", "test"], "`test` keys are free and use a made-up DNS."),
  scopes: Type.Array(word(KEY_SCOPES, "What it may do."), { description: "`account` allows all." }),
  created_at: moment("When it was made."),
  last_used_at: nullable(moment("The hour of the last call."), "The hour of the last call; null before it."),
  expires_at: nullable(moment("When it ends."), "When it ends, or ended; null where it does not."),
  rotates_at: nullable(moment("The end that a rotation set."), "The end that a rotation has set, or null."),
  revoked_at: nullable(
    moment("When it was deleted, or rotated without an overlap."),
    "When it was deleted, or rotated without an overlap; null for others.",
  ),
};

export const Key = Type.Object(keyFields, { $id: "Key" });
export type KeyEntryBody = Body<typeof Key>;

export const KeyList = Type.Object({ data: Type.Array(Key) }, { $id: "KeyList" });

export const CreatedKey = Type.Object(
  {
    ...keyFields,
    api_key: Type.String({
      pattern: "^asy_(test_)?[0-9A-Za-z]{36}$",
      description: "The key, shown this once.",
    }),
  },
  { $id: "CreatedKey" },
);
export type CreatedKeyBody = Body<typeof CreatedKey>;

export const Invoice = Type.Object(
  {
    invoice_id: text("The month and the account."),
    status: word(["projected", "issued"], "An issued invoice never changes."),
    plan: PlanName,
    period_start: moment("The first moment of the month."),
    period_end: moment("The first moment of the next month."),
    lines: Type.Array(
      Type.Object({
        description: Type.String(),
        quantity: count("Months or units."),
        unit_price_usd: usd("The price of one."),
        amount_usd: usd("Quantity times price."),
      }),
    ),
    total_usd: usd("The sum of the lines."),
    projected_total_usd: Type.Optional(
      usd("What the month will cost if units go on being used as fast as so far. Projected invoices only."),
    ),
  },
  { $id: "Invoice" },
);

export const InvoicePage = Type.Object(
  {
    data: Type.Array(Invoice, { description: "Newest first." }),
    has_more: Type.Boolean(),
    next_cursor: textOrNull("What to send as `starting_after` for the next page."),
  },
  { $id: "InvoicePage" },
);

const EndpointRow = Type.Object(
  { endpoint: text("The path."), calls: count("Calls."), units: count("Units charged.") },
  { $id: "EndpointUsage" },
);

const DayRow = Type.Object(
  {
    day: Type.String({ format: "date", description: "The day in UTC." }),
    calls: count("Calls."),
    units: count("Units charged."),
  },
  { $id: "DayUsage" },
);

export const Usage = Type.Object(
  {
    from: Type.String({ format: "date" }),
    to: Type.String({ format: "date" }),
    group_by: word(["day", "endpoint"], "What a row stands for."),
    rows: Type.Array(Type.Union([DayRow, EndpointRow]), {
      description: "Days without a call are left out.",
    }),
  },
  { $id: "Usage" },
);

export const Account = Type.Object(
  {
    account_id: text("The account."),
    email: text("The address it was opened with."),
    name: textOrNull("As given at signup."),
    company: textOrNull("As given at signup."),
    country: textOrNull("As given at signup."),
    plan: PlanName,
    pending_plan: wordOrNull(PLAN_NAMES, "The plan that holds from the next period on, if another."),
    created_at: moment("When the account was opened."),
    period: Type.Object({
      start: moment("The first moment of the month."),
      end: moment("The first moment of the next month."),
    }),
    usage: Type.Object({
      units: count("Units charged in this period."),
      included_units: count("Units that the plan includes."),
      remaining_units: nullable(
        Type.Integer({ minimum: 0 }),
        "Units left before the hard stop; null on plans that have none.",
      ),
      calls: count("Calls in this period, those that cost nothing included."),
      by_endpoint: Type.Array(EndpointRow),
    }),
    limits: Type.Object({
      requests_per_second: count("Calls a second, in the long run."),
      burst: count("Calls at once."),
      max_batch_size: count("Items in one batch."),
    }),
    spend_limit_usd: usdOrNull("Units beyond what this pays for are refused with 402."),
    projected_invoice: Invoice,
  },
  { $id: "Account" },
);
export type PlansBody = Body<typeof Plans>;
export type InvoiceBody = Body<typeof Invoice>;
export type InvoicePageBody = Body<typeof InvoicePage>;
export type EndpointUsageBody = Body<typeof EndpointRow>;
export type DayUsageBody = Body<typeof DayRow>;
export type UsageBody = Body<typeof Usage>;
export type AccountBody = Body<typeof Account>;
