import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { workerFiles } from "../app/platform.ts";
import { settingWarnings } from "../app/setting-names.ts";
import { ConfigError } from "../app/setting-reader.ts";
import { readConfig } from "../app/settings.ts";
import { isSendable } from "../client/transport.ts";
import { systemClock } from "../platform/clock.ts";
import { commandNamed } from "../platform/command-name.ts";
import type { Task } from "../tables/task.ts";
import { readArguments } from "./arguments.ts";
import type { ServerTarget, Verifier } from "./block-verifier.ts";
import { CliError, EXIT } from "./failure.ts";
import { verifyFile } from "./file-run.ts";
import { verifyItem } from "./item-run.ts";
import { verifyAsJob } from "./job-run.ts";
import { createServerVerifier } from "./server-verifier.ts";

/** Runs the command line and returns the exit code. */
async function main(): Promise<number> {
  const request = await readArguments(process.argv.slice(2));
  const newRunId = () => crypto.randomUUID();
  switch (request.do) {
    case "nothing":
      return request.exitCode;
    case "item": {
      const { task, item, server } = request.run;
      // No address is without an @: who wrote this meant the file.
      if (task.kind === "email" && !item.includes("@") && existsSync(item))
        throw new CliError(`${item} is a file: ${commandNamed("verify")} ${item} checks its addresses.`);
      await using verifier = await openVerifier(task, server);
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
      const { run } = request;
      const shared = { clock: systemClock, newRunId, stderr, isStdoutTerminal };
      const dependencies = { ...shared, openVerifier, onInterrupt: createInterrupts() };
      const { server, job } = run;
      if (server === null || job === null) return await verifyFile(run, dependencies);
      return await verifyAsJob({ ...run, server, job }, { ...dependencies, apiKey: readApiKey() });
    }
  }
}

async function openVerifier(task: Task, server: ServerTarget | null): Promise<Verifier> {
  if (server !== null) {
    return await createServerVerifier(task, { ...server, apiKey: readApiKey() });
  }
  const config = readConfig(process.env, availableParallelism());
  for (const warning of settingWarnings(process.env)) process.stderr.write(`${warning}\n`);
  // Only what verifies here reads the code that does.
  const { createLocalVerifier } = await import("./local-verifier.ts");
  return createLocalVerifier(task, config, { clock: systemClock, workerFiles });
}

function readApiKey(): string {
  const apiKey = process.env.ASSAY_API_KEY?.trim() ?? "";
  if (!isSendable(apiKey)) {
    throw new CliError("ASSAY_API_KEY holds a character that no key has, such as a line end.");
  }
  if (apiKey !== "") return apiKey;
  throw new CliError("--server needs your key in the environment variable ASSAY_API_KEY.");
}

/** Exits at once on an interruption, as the checkpoint is current, with the message of the last registered handler. */
function createInterrupts(): (stop: () => string) => void {
  let current: (() => string) | null = null;
  const end = (exitCode: number) => {
    process.stderr.write(`${current?.() ?? ""}\n`);
    process.exit(exitCode);
  };
  return (stop) => {
    if (current === null) {
      // Never "once": of `bun run` and a terminal one Ctrl-C comes twice, and the second would end it before its message.
      process.on("SIGINT", () => end(EXIT.interrupted));
      process.on("SIGTERM", () => end(EXIT.terminated));
    }
    current = stop;
  };
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
