import { nounOf } from "../../../contract/noun.ts";
import { MeterBar } from "../charts/meter-bar.tsx";
import { Button } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Notice } from "../parts/notice.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, moneyOf, percentOf } from "../text/format.ts";
import type { Account, Plan, Plans } from "../wire/bodies.ts";

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
  const plan =
    plans.state.status === "ready"
      ? plans.state.value.plans.find((each) => each.plan === known?.plan)
      : undefined;
  const left = known?.usage.remaining_units ?? null;
  const obstacles = obstaclesOf({
    rows,
    rowsMax: plan?.max_job_size ?? null,
    isTooDear: left !== null && units > left && !mayPause,
  });
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Rows", countOf(rows)],
          ["Duplicates, not charged", countOf(rows - distinct)],
          ["Cost at most", `${countOf(units)} ${nounOf(units, "unit")}`],
          ["Units left", known === null ? "–" : leftText(known)],
          ...(known !== null && plan !== undefined
            ? [["Beyond the plan", beyondText(known, plan, units)] as const]
            : []),
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
  isTooDear,
}: {
  readonly rows: number;
  readonly rowsMax: number | null;
  readonly isTooDear: boolean;
}): readonly string[] {
  const obstacles: string[] = [];
  if (rows === 0) obstacles.push("There are no rows in this file.");
  if (rowsMax !== null && rows > rowsMax) {
    obstacles.push(
      `The plan takes lists of ${countOf(rowsMax)} rows at most. Split the file or change the plan.`,
    );
  }
  if (isTooDear) obstacles.push("There are too few units left, so the server will refuse the list.");
  return obstacles;
}

function leftText({ usage }: Account): string {
  const { remaining_units, included_units, units } = usage;
  if (remaining_units !== null) return countOf(remaining_units);
  return `${countOf(Math.max(0, included_units - units))} included, then by the unit`;
}

function beyondText({ usage }: Account, { overage_unit_price_usd }: Plan, units: number): string {
  const beyond = Math.max(0, units - Math.max(0, usage.included_units - usage.units));
  if (beyond === 0) return "Nothing";
  const needs = `${countOf(beyond)} ${nounOf(beyond, "unit")}`;
  if (overage_unit_price_usd === null) return `${needs}: not sold on this plan`;
  return `${needs}, ${moneyOf(beyond * Number(overage_unit_price_usd))}`;
}
