import { useEffect, useMemo, useState } from "preact/hooks";
import { Confirm } from "../parts/confirm.tsx";
import { Facts } from "../parts/facts.tsx";
import { useConsole } from "../state/console.ts";
import { countOf, dayOf, durationOf, exactMoneyOf, moneyOf, wordsOf } from "../text/format.ts";
import { prorationOf } from "../text/proration.ts";
import type { Account, Plan } from "../wire/bodies.ts";
import { Refusal } from "../wire/refusal.ts";

const TICK_MS = 1_000;
const OTHER_ACCOUNT = { status: 0, code: "other_account", requestId: null };

/** What a change of plan would cost at this second, and the change. */
export function PlanChange({
  account,
  from,
  to,
  onRead,
  onChanged,
  onClose,
}: {
  readonly account: Account;
  readonly from: Plan;
  readonly to: Plan;
  /** The account is another one by now than what is shown. */
  readonly onRead: (account: Account) => void;
  readonly onChanged: (account: Account) => void;
  readonly onClose: () => void;
}) {
  const { api, now } = useConsole();
  const [at, setAt] = useState(now());
  useEffect(() => {
    const timer = setInterval(() => setAt(now()), TICK_MS);
    return () => clearInterval(timer);
  }, [now]);
  // Until the change itself is sent, leaving the dialog keeps it from being made.
  const stop = useMemo(() => new AbortController(), []);
  useEffect(() => () => stop.abort(), [stop]);
  const change = async () => {
    const read = await api.read<Account>("/v1/account", stop.signal);
    stop.signal.throwIfAborted();
    if (!isAs(read, account) && planAhead(read) !== to.plan) {
      onRead(read);
      throw new Refusal(
        "The plan or the month is another one by now. This is what the change costs from here on.",
        OTHER_ACCOUNT,
      );
    }
    onChanged(await api.send<Account>("POST", "/v1/account/plan", { plan: to.plan }));
  };
  const proration = prorationOf(account, from, to, at);
  const name = wordsOf(to.plan);
  return (
    <Confirm
      title={proration.type === "none" ? `Keep ${name}` : `Change to ${name}`}
      act={proration.type === "none" ? `Keep ${name}` : `Change to ${name}`}
      isDangerous={false}
      onClose={onClose}
      onAct={change}
    >
      {proration.type === "none" ? <p>The change that waits for the end of the month is withdrawn.</p> : null}
      {proration.type === "later" ? (
        <p>
          {name} begins on {dayOf(proration.at)}. Until then {wordsOf(from.plan)} stays as it is, and you may
          still change your mind.
        </p>
      ) : null}
      {proration.type === "now" ? (
        <>
          <p>
            {name} begins at once. Price and units are shared out by the second: this is what the rest of the
            month costs if you confirm now.
          </p>
          <Facts
            facts={[
              ["Rest of the month", durationOf(proration.seconds)],
              [`${name} for that time`, moneyOf(proration.price)],
              ["Units in that price", countOf(proration.units)],
              [
                "Each unit beyond",
                to.overage_unit_price_usd === null ? "Refused" : exactMoneyOf(to.overage_unit_price_usd),
              ],
              [`From ${dayOf(account.period.end)} on`, `${moneyOf(to.monthly_price_usd)} a month`],
            ]}
          />
        </>
      ) : null}
    </Confirm>
  );
}

/** The plan that holds next month. */
export function planAhead({ pending_plan, plan }: Account): Plan["plan"] {
  return pending_plan ?? plan;
}

/** Whether a change costs the same of two readings of an account. */
function isAs(one: Account, other: Account): boolean {
  return (
    one.plan === other.plan && one.pending_plan === other.pending_plan && one.period.end === other.period.end
  );
}
