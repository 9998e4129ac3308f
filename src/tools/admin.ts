import { userInfo } from "node:os";
import { clearErasedAccount } from "../accounts/account-erasure.ts";
import { createAccounts } from "../accounts/accounts.ts";
import { hashApiKey, makeApiKey, systemRandomBytes } from "../accounts/api-key.ts";
import { createKeyRing } from "../accounts/key-ring.ts";
import {
  createOperators,
  OPERATOR_ACTIONS,
  type OperatorAction,
  type OperatorAsk,
} from "../accounts/operator-commands.ts";
import type { OperatorOutcome } from "../accounts/operator-outcome.ts";
import { readConfig } from "../app/settings.ts";
import { createBillingClock } from "../billing/billing-clock.ts";
import { createMeter } from "../billing/meter.ts";
import type { PlanCatalogue } from "../billing/plans.ts";
import { openSharedClock } from "../billing/shared-clock.ts";
import { createSharedMeter } from "../billing/shared-meter.ts";
import { systemClock } from "../platform/clock.ts";
import { commandNamed } from "../platform/command-name.ts";
import { openSharedStore } from "../store/postgres/open.ts";
import { requireDatabase } from "../store/sqlite/data-dir/database-file.ts";
import { openBeside, openStore } from "../store/sqlite/open.ts";
import { DataDirInUseError } from "../store/storage-error.ts";
import { fail, runCommand } from "./command.ts";

// What operators do to the accounts of DATA_DIR: by the server that runs on it, or here where none does; or to those of
// the cluster of DATABASE_URL.

/** The words behind each action, those in brackets at will, and what it does. */
const ACTIONS: { readonly [Action in OperatorAction]: readonly [words: string, meaning: string] } = {
  list: ["[AFTER]", "accounts by id, 100 at a time"],
  show: ["ACCOUNT", "an account, by id or mailbox"],
  suspend: ["ACCOUNT", "its keys are refused"],
  resume: ["ACCOUNT", "its keys are taken again"],
  credit: ["ACCOUNT UNITS", "units for nothing, for the running month"],
  "set-plan": ["ACCOUNT PLAN", "an upgrade at once, a downgrade with the next month"],
  "new-key": ["ACCOUNT", "a new key; all others end"],
  erase: ["ACCOUNT", "its personal data, keys and jobs; counts and invoices stay"],
  "confirm-clock": ["", "the clock is right, however far it jumped"],
};

const lineOf = (action: OperatorAction): string =>
  `${commandNamed("admin")} ${action} ${ACTIONS[action][0]}`.trimEnd();
const USAGE = OPERATOR_ACTIONS.map((action) => `${lineOf(action).padEnd(43)}${ACTIONS[action][1]}`).join(
  "\n",
);

const WAIT_MAX_MS = 10_000;
/** What is written in one transaction with the end of its command: taken back in time, it changes nothing. */
const ENDED_WITH_CHANGE: readonly OperatorAsk["action"][] = [
  "suspend",
  "resume",
  "credit",
  "new-key",
  "erase",
];
const LOOK_EVERY_MS = 100;

async function main(): Promise<number> {
  const [action = "", ...words] = process.argv.slice(2);
  if (action === "--help" || action === "help") {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const known = OPERATOR_ACTIONS.find((name) => name === action);
  if (known === undefined) return fail(action === "" ? USAGE : `There is no action ${action}:\n${USAGE}`);
  const named = ACTIONS[known][0].split(" ").filter((word) => word !== "");
  const neededCount = named.filter((word) => !word.startsWith("[")).length;
  if (words.length < neededCount || words.length > named.length) return fail(`Write ${lineOf(known)}.`);
  const [first, second] = words;
  const apiKey = known === "new-key" ? makeApiKey(systemRandomBytes) : null;
  const ask: OperatorAsk = {
    action: known,
    ...(known === "list" ? { after: first } : { account: first }),
    ...(known === "credit" ? { units: Number(second) } : { plan: second }),
    ...(apiKey === null ? {} : { keyHash: hashApiKey(apiKey) }),
  };
  const { DATA_DIR, DATABASE_URL, DATABASE_DIRECT_URL, PLANS_FILE } = process.env;
  const config = readConfig({ DATA_DIR, DATABASE_URL, DATABASE_DIRECT_URL, PLANS_FILE }, 1);
  const outcome = await runWhereOpen(config, ask, userInfo().username);
  if (!outcome.ok) return fail(outcome.reason);
  const shown = apiKey === null ? outcome.result : { api_key: apiKey };
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  return 0;
}

type Settings = Pick<
  ReturnType<typeof readConfig>,
  "dataDir" | "databaseUrl" | "databaseDirectUrl" | "plans"
>;

async function runWhereOpen(
  settings: Settings,
  ask: OperatorAsk,
  operator: string,
): Promise<OperatorOutcome> {
  const { databaseUrl: url, databaseDirectUrl: directUrl, plans } = settings;
  if (url !== null) return runInCluster({ url, directUrl, plans }, ask, operator);
  try {
    return await runHere(settings, ask, operator);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    return runThere(settings.dataDir, ask, operator);
  }
}

/** In the database of a cluster, whose nodes see what was changed within a second. */
async function runInCluster(
  { url, directUrl, plans }: { url: string; directUrl: string | null; plans: PlanCatalogue },
  ask: OperatorAsk,
  operator: string,
): Promise<OperatorOutcome> {
  const clock = systemClock;
  const store = await openSharedStore({ url, directUrl, clock });
  try {
    const keyRing = createKeyRing({ store, plans, clock });
    const billingClock = await openSharedClock({ store, clock, onProblem: () => {} });
    const meter = createSharedMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
    const randomBytes = systemRandomBytes;
    const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
    const clearErased = (accountId: string) => clearErasedAccount(store, accountId);
    const operators = createOperators({ store, meter, keyRing, accounts, clock, clearErased });
    const outcome = await operators.run(ask, operator);
    await meter.close();
    return outcome;
  } finally {
    store.close();
  }
}

/** Without a server: this process takes the data directory for itself. */
async function runHere(
  { dataDir, plans }: Settings,
  ask: OperatorAsk,
  operator: string,
): Promise<OperatorOutcome> {
  // A misspelled DATA_DIR would be made, and have no accounts.
  requireDatabase(dataDir);
  const clock = systemClock;
  const store = openStore({ dataDir, clock });
  try {
    const keyRing = createKeyRing({ store, plans, clock });
    const billingClock = createBillingClock({ store, clock });
    const meter = createMeter({ store, plans, clock: billingClock, planChanged: keyRing.forget });
    const randomBytes = systemRandomBytes;
    const accounts = createAccounts({ store, meter, keyRing, plans, clock: billingClock, randomBytes });
    const clearErased = (accountId: string) => clearErasedAccount(store, accountId);
    const operators = createOperators({ store, meter, keyRing, accounts, clock, clearErased });
    const outcome = await operators.run(ask, operator);
    await meter.close();
    return outcome;
  } finally {
    store.close();
  }
}

/** Through the database of a running server, which looks for commands twice a second. */
async function runThere(dataDir: string, ask: OperatorAsk, operator: string): Promise<OperatorOutcome> {
  const store = openBeside({ dataDir, clock: systemClock });
  try {
    const command = { askedAt: systemClock.now(), operator, command: JSON.stringify(ask) };
    const commandId = store.askCommand({ ...command, askedAt: Math.floor(command.askedAt) });
    for (let waitedMs = 0; waitedMs < WAIT_MAX_MS; waitedMs += LOOK_EVERY_MS) {
      await Bun.sleep(LOOK_EVERY_MS);
      const outcome = store.commandOutcome(commandId);
      if (outcome === null) continue;
      store.removeCommand(commandId);
      return JSON.parse(outcome) as OperatorOutcome;
    }
    const isUndone = store.withdrawCommand(commandId);
    const reason =
      isUndone && ENDED_WITH_CHANGE.includes(ask.action)
        ? "The server did not answer within 10 seconds; nothing was changed."
        : "The server answered too late; look with show whether it was done.";
    return { ok: false, reason };
  } finally {
    store.close();
  }
}

await runCommand(main);
