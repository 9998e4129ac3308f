import type { PlanName } from "./plans.ts";

export type InvoiceLineView = {
  readonly description: string;
  readonly quantity: number;
  readonly unit_price_usd: string;
  readonly amount_usd: string;
};

/** An invoice as callers see it. */
export type InvoiceView = {
  readonly invoice_id: string;
  readonly status: "projected" | "issued";
  readonly plan: PlanName;
  readonly period_start: string;
  readonly period_end: string;
  readonly lines: readonly InvoiceLineView[];
  readonly total_usd: string;
  readonly projected_total_usd?: string;
};
