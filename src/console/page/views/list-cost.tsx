import { type Budget, budgetOf } from "../../../billing/budget.ts";
import { MICRO_USD_PER_USD } from "../../../billing/money.ts";
import { nounOf } from "../../../contract/noun.ts";
import { MeterBar } from "../charts/meter-bar.tsx";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, exactMoneyOf, percentOf } from "../text/format.ts";
import type { Account, Plans } from "../wire/bodies.ts";

/** What a list costs, against what is left, and the start. */
export function ListCost({
  share,
  counted,
  unitsPerItem,
  mayPause,
  isReady,
  onStart,
}: {
  readonly share: number;
  readonly counted: { readonly rows: number; readonly distinct: number } | null;
  readonly unitsPerItem: number;
  readonly mayPause: boolean;
  readonly isReady: boolean;
  readonly onStart: () => void;
}) {
  const { api } = useConsole();
  const account = useLoad((signal) => api.read<Account>("/v1/account", signal));
  const plans = useLoad((signal) => api.read<Plans>("/v1/plans", signal));
  if (counted === null) return <Counting share={share} />;
  const { rows, distinct } = counted;
  const units = distinct * unitsPerItem;
  const known = account.state.status === "ready" ? account.state.value : null;
  const offered = plans.state.status === "ready" ? plans.state.value.plans : [];
  const plan = offered.find((each) => each.plan === known?.plan);
  const budget = known === null ? null : budgetOf(known, offered);
  const obstacles = obstaclesOf({
    rows,
    rowsMax: plan?.max_job_size ?? null,
    tooDearFor: budget !== null && units > budget.unitsLeft && !mayPause ? budget : null,
  });
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Rows", countOf(rows)],
          ["Duplicates, not charged", countOf(rows - distinct)],
          ["Cost at most", `${countOf(units)} ${nounOf(units, "unit")}`],
          ["Units left", budget === null ? "–" : leftText(budget)],
          ...(budget === null || plan === undefined
            ? []
            : [["Beyond the plan", beyondText(budget, units)] as const]),
        ]}
      />
      {obstacles.map((words) => (
        <Notice key={words} kind="bad">
          {words}
        </Notice>
      ))}
      <div class="row">
        <Button look="primary" isOff={!isReady || obstacles.length > 0} onPress={onStart}>
          Upload and start
        </Button>
        <p class="muted">Look-ups that fail on our side are not charged.</p>
      </div>
    </div>
  );
}

function Counting({ share }: { readonly share: number }) {
  return (
    <div class="stack">
      <p role="status">Counting rows and duplicates on your machine: {percentOf(share)}</p>
      <MeterBar label={`${percentOf(share)} is read`} value={share} most={1} />
    </div>
  );
}

/** Returns why the list cannot be started. */
function obstaclesOf({
  rows,
  rowsMax,
  tooDearFor,
}: {
  readonly rows: number;
  readonly rowsMax: number | null;
  /** The budget that does not pay for the list; null where it does, or where the list may pause. */
  readonly tooDearFor: Budget | null;
}): readonly string[] {
  const obstacles: string[] = [];
  if (rows === 0) obstacles.push("There are no rows in this file.");
  if (rowsMax !== null && rows > rowsMax) {
    obstacles.push(
      `The plan takes lists of ${countOf(rowsMax)} rows at most. Split the file or change the plan.`,
    );
  }
  if (tooDearFor !== null) {
    const why =
      tooDearFor.overagePriceMicroUsd === null
        ? "There are too few units left"
        : "The spend limit pays for too few units";
    obstacles.push(`${why}, so the server will refuse the list.`);
  }
  return obstacles;
}

function leftText({ unitsLeft, includedUnitsLeft, overagePriceMicroUsd }: Budget): string {
  if (unitsLeft === includedUnitsLeft && overagePriceMicroUsd === null) return countOf(unitsLeft);
  const included = `${countOf(includedUnitsLeft)} included`;
  if (!Number.isFinite(unitsLeft)) return `${included}, then by the unit`;
  return `${included}, the spend limit pays for ${countOf(unitsLeft)}`;
}

function beyondText({ includedUnitsLeft, overagePriceMicroUsd }: Budget, units: number): string {
  const beyond = Math.max(0, units - includedUnitsLeft);
  if (beyond === 0) return "Nothing";
  const needs = `${countOf(beyond)} ${nounOf(beyond, "unit")}`;
  if (overagePriceMicroUsd === null) return `${needs}: not sold on this plan`;
  return `${needs}, ${exactMoneyOf((beyond * overagePriceMicroUsd) / MICRO_USD_PER_USD)}`;
}
