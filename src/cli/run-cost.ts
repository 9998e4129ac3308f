import type { Budget } from "../billing/budget.ts";
import { formatUsd } from "../billing/money.ts";
import { itemUnits } from "../billing/units.ts";
import { nounOf } from "../contract/noun.ts";
import type { Row } from "../tables/rows.ts";
import type { Task } from "../tables/task.ts";
import { blocksOf } from "./blocks.ts";
import { CliError } from "./failure.ts";
import { counted, grouped } from "./progress.ts";

/** Returns the units of all rows from `from` on, where every item is charged: repeats within a block cost once. */
export async function costOf(
  runs: AsyncIterable<readonly Row[]>,
  task: Task,
  { blockRows, from }: { readonly blockRows: number; readonly from: number },
): Promise<number> {
  let items = 0;
  for await (const block of blocksOf(runs, { blockRows, from, bytesRead: () => 0 })) {
    if (!block.isDone) items += new Set(block.rows.map(({ item }) => item)).size;
  }
  return items * itemUnits(task.kind, task.kind === "email" && task.deep);
}

/** Throws CliError where the budget does not pay for the run. `units` is null where they cannot be counted. */
export function refuseOverBudget(name: string, units: number | null, budget: Budget): void {
  if (units === null || units <= budget.unitsLeft) return;
  throw new CliError(
    `${costText(name, units, budget)} Nothing was sent. Change the plan or its spend limit, or use --partial to begin and stop at the first call that the units do not pay for.`,
  );
}

/** Describes the cost of a run and the units left. */
export function costText(name: string, units: number | null, budget: Budget): string {
  const left = leftText(budget);
  if (units === null) return `${left} What ${name} costs cannot be known beforehand.`;
  return `${name} costs up to ${counted(units, "unit")}. ${left}${overageText(units, budget)}`;
}

function leftText({ unitsLeft, includedUnitsLeft, plan, overagePriceMicroUsd }: Budget): string {
  if (overagePriceMicroUsd === null) return `The plan ${plan} has ${grouped(unitsLeft)} left.`;
  const limited = Number.isFinite(unitsLeft) ? `, the spend limit pays for ${grouped(unitsLeft)}` : "";
  return `The plan ${plan} has ${grouped(includedUnitsLeft)} included ${nounOf(includedUnitsLeft, "unit")} left${limited}.`;
}

function overageText(units: number, { includedUnitsLeft, overagePriceMicroUsd, unitsLeft }: Budget): string {
  const beyond = units - includedUnitsLeft;
  if (overagePriceMicroUsd === null || beyond <= 0 || units > unitsLeft) return "";
  return ` The other ${grouped(beyond)} ${beyond === 1 ? "costs" : "cost"} up to ${formatUsd(beyond * overagePriceMicroUsd)} USD.`;
}
