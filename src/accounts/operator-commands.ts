import { confirmClock } from "../billing/billing-clock.ts";
import type { Meter } from "../billing/meter.ts";
import { secondOf } from "../billing/period.ts";
import { isPlanName } from "../billing/plans.ts";
import { PLAN_NAMES } from "../contract/words.ts";
import type { Clock } from "../platform/clock.ts";
import type { AccountRecord } from "../store/account-records.ts";
import { type OperatorAct, type OperatorCommand, UNREPORTED } from "../store/operator-port.ts";
import type { AccountingStore } from "../store/port.ts";
import type { Accounts } from "./accounts.ts";
import { createAskedCommands } from "./asked-commands.ts";
import type { KeyRing } from "./key-ring.ts";
import { hashedKeyRecord } from "./key-rotation.ts";
import { answered, type OperatorOutcome, summaryOf } from "./operator-outcome.ts";

/** A command of an operator. It names an account by its id or its mailbox. */
export type OperatorAsk = {
  readonly action: OperatorAction;
  readonly account?: string | undefined;
  /** Of `credit`: 1 to a thousand million, for the running month. */
  readonly units?: number | undefined;
  readonly plan?: string | undefined;
  /** Of `new-key`: the SHA-256 of the key, which never leaves the operator's process. */
  readonly keyHash?: string | undefined;
  /** Of `list`: the id after which the page begins. */
  readonly after?: string | undefined;
};

/** `asked` is the command of another process that it comes from. */
type Asked = OperatorAsk & { readonly asked?: OperatorCommand };

export const OPERATOR_ACTIONS = [
  "list",
  "show",
  "suspend",
  "resume",
  "credit",
  "set-plan",
  "new-key",
  "erase",
  "confirm-clock",
] as const;

export type OperatorAction = (typeof OPERATOR_ACTIONS)[number];

export type Operators = {
  /** Runs a command and records it under the name of `operator`. */
  readonly run: (ask: OperatorAsk, operator: string) => Promise<OperatorOutcome>;
  /** Runs the commands of other processes within a second each, until the returned function is called. */
  readonly start: (onProblem: (error: unknown) => void) => () => void;
};

const PAGE_ACCOUNTS = 100;
const UNITS_MAX = 1_000_000_000;

/** Creates the commands of operators, each of which is recorded. */
export function createOperators(dependencies: {
  store: AccountingStore;
  meter: Pick<Meter, "ledger" | "flush" | "forget">;
  keyRing: Pick<KeyRing, "forget">;
  accounts: Pick<Accounts, "view" | "changePlan">;
  /** The machine's clock, which one of the commands confirms. */
  clock: Clock;
  /** Begins to clear what an erasure leaves, which may take minutes: the command waits for what it returns. */
  clearErased: (accountId: string) => Promise<void> | undefined;
}): Operators {
  const { store, meter, keyRing, accounts, clock, clearErased } = dependencies;

  function actOf(ask: OperatorAsk, operator: string, accountId: string | null): Omit<OperatorAct, "actId"> {
    const { action, units, plan } = ask;
    const at = Math.floor(clock.now());
    return { at, operator, action, accountId, details: JSON.stringify({ units, plan }) };
  }

  async function runOn(account: AccountRecord, ask: Asked, operator: string): Promise<OperatorOutcome> {
    const { accountId } = account;
    const now = Math.floor(clock.now());
    const act = actOf(ask, operator, accountId);
    const done = (result: unknown): OperatorOutcome => ({ ok: true, result });
    if (account.erasedAt !== null) return { ok: false, reason: "The data of this account were erased." };
    switch (ask.action) {
      case "suspend":
      case "resume": {
        const suspendedAt = ask.action === "suspend" ? now : null;
        return answered(ask.asked, summaryOf({ ...account, suspendedAt }), (answer) =>
          store.suspendAccount(accountId, suspendedAt, act, answer),
        ).finally(() => keyRing.forget(accountId));
      }
      case "credit": {
        const { units = 0 } = ask;
        if (!Number.isInteger(units) || units < 1 || units > UNITS_MAX) {
          return { ok: false, reason: `Give a whole number of units from 1 to ${UNITS_MAX}.` };
        }
        const { current } = await meter.ledger(accountId);
        if (ask.asked?.outcome !== UNREPORTED)
          await store.creditUnits(current.planPeriodId, units, act, ask.asked?.commandId);
        meter.forget(accountId);
        return done((await accounts.view(accountId)).usage);
      }
      case "set-plan": {
        const { plan = "" } = ask;
        if (!isPlanName(plan))
          return { ok: false, reason: `There is no plan ${plan}: there are ${PLAN_NAMES.join(", ")}.` };
        await store.recordAct(act);
        const { plan: held, pending_plan } = await accounts.changePlan(accountId, { plan });
        return done({ plan: held, pending_plan });
      }
      case "new-key":
        if (!/^[0-9a-f]{64}$/.test(ask.keyHash ?? ""))
          return { ok: false, reason: "There is no hash of a key." };
        return answered(ask.asked, { account_id: accountId }, (answer) =>
          store.replaceKeys(hashedKeyRecord(ask.keyHash ?? "", accountId, now), act, answer),
        ).finally(() => keyRing.forget(accountId));
      case "erase": {
        // Finished months are closed first, so that the current one ends now.
        await meter.flush(accountId);
        await meter.ledger(accountId);
        const erased = await answered(
          ask.asked,
          { account_id: accountId, erased_at: secondOf(now) },
          (answer) => store.eraseAccount(accountId, now, act, answer),
        ).finally(() => {
          meter.forget(accountId);
          keyRing.forget(accountId);
        });
        await clearErased(accountId);
        return erased;
      }
      default:
        return done(await viewed(account, act));
    }
  }

  /** Reads first: a look that fails is no act, however often it is tried. */
  async function viewed(account: AccountRecord, act: Omit<OperatorAct, "actId">) {
    const view = await accounts.view(account.accountId);
    await store.recordAct(act);
    return { ...view, suspended: account.suspendedAt !== null };
  }

  async function run(ask: Asked, operator: string): Promise<OperatorOutcome> {
    if (ask.action === "list") {
      const page = await store.accountPage(ask.after ?? "", PAGE_ACCOUNTS);
      await store.recordAct(actOf(ask, operator, null));
      return { ok: true, result: page.map(summaryOf) };
    }
    if (ask.action === "confirm-clock") {
      await store.recordAct(actOf(ask, operator, null));
      await confirmClock(store, clock.now());
      return { ok: true, result: { confirmed: secondOf(clock.now()) } };
    }
    const name = ask.account ?? "";
    const account = (await store.findAccount(name)) ?? (await store.findAccountByMailbox(name.toLowerCase()));
    if (account === null) return { ok: false, reason: `No account has the id or the mailbox ${name}.` };
    return runOn(account, ask, operator);
  }

  const runAsked = async (asked: OperatorCommand) => {
    const ask = JSON.parse(asked.command) as OperatorAsk;
    return run({ ...ask, asked }, asked.operator);
  };

  return { run, start: createAskedCommands({ store, clock, runAsked }) };
}
