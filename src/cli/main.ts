import { availableParallelism } from "node:os";
import { workerFiles } from "../app/platform.ts";
import { settingWarnings } from "../app/setting-names.ts";
import { ConfigError, readConfig } from "../app/settings.ts";
import { systemClock } from "../platform/clock.ts";
import type { Task } from "../tables/task.ts";
import { readArguments } from "./arguments.ts";
import type { ServerTarget, Verifier } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import { verifyFile } from "./file-run.ts";
import { verifyItem } from "./item-run.ts";
import { createLocalVerifier } from "./local-verifier.ts";
import { createServerVerifier } from "./server-verifier.ts";

/** Runs the command line and returns the exit code. */
async function main(): Promise<number> {
  const request = readArguments(process.argv.slice(2));
  const newRunId = () => crypto.randomUUID();
  switch (request.do) {
    case "nothing":
      return request.exitCode;
    case "item": {
      await using verifier = await openVerifier(request.run.task, request.run.server);
      return await verifyItem(request.run, {
        verifier,
        newRunId,
        stdout: process.stdout,
        stderr: process.stderr,
      });
    }
    case "file": {
      const { stderr, stdout } = process;
      const isStdoutTerminal = stdout.isTTY === true;
      const clock = systemClock;
      return await verifyFile(request.run, {
        openVerifier,
        clock,
        newRunId,
        stderr,
        isStdoutTerminal,
        onInterrupt,
      });
    }
  }
}

async function openVerifier(task: Task, server: ServerTarget | null): Promise<Verifier> {
  if (server !== null) {
    const apiKey = process.env.ASSAY_API_KEY?.trim() ?? "";
    if (apiKey === "")
      throw new CliError("--server needs your key in the environment variable ASSAY_API_KEY.");
    return await createServerVerifier(task, { ...server, apiKey });
  }
  const config = readConfig(process.env, availableParallelism());
  for (const warning of settingWarnings(process.env)) process.stderr.write(`${warning}\n`);
  return createLocalVerifier(task, config, { clock: systemClock, workerFiles });
}

/** Whatever is under way may be left: the checkpoint knows what is done. */
function onInterrupt(stop: () => string): void {
  const end = (exitCode: number) => {
    process.stderr.write(`${stop()}\n`);
    process.exit(exitCode);
  };
  process.once("SIGINT", () => end(EXIT.interrupted));
  process.once("SIGTERM", () => end(EXIT.terminated));
}

try {
  process.exit(await main());
} catch (error) {
  if (error instanceof CliError || error instanceof ConfigError) {
    if (error.message !== "") process.stderr.write(`${error.message}\n`);
    process.exit(error instanceof CliError ? error.exitCode : EXIT.badInput);
  }
  process.stderr.write(`${Bun.inspect(error)}\n`);
  process.exit(EXIT.stopped);
}
