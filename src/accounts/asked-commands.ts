import type { Clock } from "../platform/clock.ts";
import { isObject, parseJson } from "../platform/json-value.ts";
import {
  CommandEndedError,
  type OperatorCommand,
  type OperatorPort,
  UNREPORTED,
} from "../store/operator-port.ts";
import { isStorageFailure } from "../store/storage-error.ts";
import type { OperatorOutcome } from "./operator-outcome.ts";

type AskedCommandsDependencies = {
  readonly store: Pick<OperatorPort, "nextCommand" | "answerCommand" | "removeAnsweredCommands">;
  readonly clock: Pick<Clock, "now">;
  /** Runs a command that another process asks for. */
  readonly runAsked: (command: OperatorCommand) => Promise<OperatorOutcome>;
};

const LOOK_EVERY_MS = 500;
/** The client of a command has timed out by then. */
const ASKED_AGO_MAX_MS = 30_000;

/**
 * Runs the commands that other processes ask for through the database, within a second each, once it is called and until
 * what it returns is.
 */
export function createAskedCommands({
  store,
  clock,
  runAsked,
}: AskedCommandsDependencies): (onProblem: (error: unknown) => void) => () => void {
  /** Rejects where the store fails, as whether the command is done is not known then, and where it is no longer open. */
  async function runOrReason(command: OperatorCommand): Promise<OperatorOutcome> {
    try {
      return await runAsked(command);
    } catch (error) {
      if (isStorageFailure(error) || error instanceof CommandEndedError) throw error;
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async function answer(command: OperatorCommand): Promise<void> {
    const isLate = clock.now() - command.askedAt > ASKED_AGO_MAX_MS;
    const outcome = isLate ? outcomeOfLate(command) : await runOrReason(command);
    await store.answerCommand(command.commandId, JSON.stringify(outcome));
    await store.removeAnsweredCommands(clock.now() - ASKED_AGO_MAX_MS);
  }

  /**
   * Runs all that are asked, in order. One for which the store fails keeps none of other accounts waiting: the next look
   * runs it again, before those of its account that were asked later.
   */
  async function runAll(): Promise<void> {
    const failures = new Map<string, unknown>();
    let command = await store.nextCommand(0);
    while (command !== null) {
      const account = accountOf(command);
      try {
        if (!failures.has(account)) await answer(command);
      } catch (error) {
        if (!(error instanceof CommandEndedError)) failures.set(account, error);
      }
      command = await store.nextCommand(command.commandId);
    }
    const [failure] = failures.values();
    if (failure !== undefined) throw failure;
  }

  return (onProblem) => {
    let isRunning = false;
    const timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      runAll()
        .catch(onProblem)
        .finally(() => {
          isRunning = false;
        });
    }, LOOK_EVERY_MS);
    timer.unref();
    return () => clearInterval(timer);
  };
}

/** Returns the account that a command names; an empty text where it names none, or cannot be read. */
function accountOf({ command }: OperatorCommand): string {
  const ask = parseJson(command);
  return isObject(ask) && typeof ask.account === "string" ? ask.account : "";
}

/** What becomes of a command whose client has gone. */
function outcomeOfLate({ outcome }: OperatorCommand): OperatorOutcome {
  return outcome === UNREPORTED
    ? { ok: true, result: null }
    : { ok: false, reason: "It was asked too long ago." };
}
