import type { Account, EmailBatch, EmailResult, Plan } from "../client/contract-types.ts";
import { EMAIL_STATUSES } from "../contract/words.ts";

export type DemoFacts = {
  readonly batch: EmailBatch;
  readonly seconds: number;
  readonly account: Account;
  readonly plan: Plan;
};

/** Returns the verdicts by status and cause with an example each, the speed, and what it cost. */
export function demoReport({ batch, seconds, account, plan }: DemoFacts): string {
  const { summary, count, results } = batch;
  const { usage, projected_invoice: invoice } = account;
  const unpaid = count - summary.duplicates - summary.units_charged;
  return [
    ...verdictTable(results),
    "",
    `Speed  ${grouped(count)} addresses in ${(seconds * 1000).toFixed(0)} ms: ${grouped(Math.round(count / seconds))} a second, look-ups included`,
    `Cost   ${grouped(summary.units_charged)} units: ${summary.duplicates} repeats and ${unpaid} failed look-ups are free`,
    `       ${grouped(usage.units)} of the ${grouped(plan.included_units)} units of the plan ${plan.plan} (${plan.monthly_price_usd} USD a month) are used;`,
    `       the invoice so far: ${invoice.total_usd} USD`,
    "",
  ].join("\n");
}

function verdictTable(results: readonly EmailResult[]): readonly string[] {
  const lines = [row("STATUS", "COUNT", "BECAUSE", "FOR EXAMPLE", "SCORE")];
  for (const status of EMAIL_STATUSES) {
    const same = results.filter((result) => result.status === status);
    lines.push("", row(status, grouped(same.length), "", "", ""));
    for (const [cause, found] of byCause(same)) {
      const [example] = found;
      if (example !== undefined) {
        lines.push(row("", grouped(found.length), cause, exampleText(example), String(example.score)));
      }
    }
  }
  return lines.map((line) => line.trimEnd());
}

/** The most frequent cause first. */
function byCause(results: readonly EmailResult[]): readonly (readonly [string, readonly EmailResult[]])[] {
  const causes = Map.groupBy(results, ({ sub_status }) => sub_status);
  return [...causes].sort(([, a], [, b]) => b.length - a.length);
}

const row = (status: string, count: string, cause: string, example: string, score: string) =>
  `${status.padEnd(15)}${count.padStart(5)}  ${cause.padEnd(20)}${example.padEnd(50)}${score.padStart(5)}`;

function exampleText({ email, did_you_mean }: EmailResult): string {
  const text = did_you_mean === null ? email : `${email} (${did_you_mean}?)`;
  return text.length > 48 ? `${text.slice(0, 47)}…` : text;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
