import type { BatchKind } from "../batch/messages.ts";
import type { InputFormat } from "../tables/input-format.ts";
import type { OutputFormat } from "../tables/table.ts";
import { KINDS, type Task } from "../tables/task.ts";
import type { ServerTarget } from "./block-verifier.ts";
import { CliError } from "./failure.ts";
import type { FileRun } from "./file-run-options.ts";

/** The options of a run over a file, as they are written on the command line. */
export type FileOptions = {
  readonly column?: string;
  readonly header?: boolean;
  readonly inputFormat?: InputFormat;
  readonly encoding?: string;
  readonly output?: string;
  readonly format?: OutputFormat;
  readonly only?: string;
  readonly force?: boolean;
  readonly resume?: boolean;
  readonly partial?: boolean;
  readonly quiet?: boolean;
  readonly job?: boolean;
  readonly attach?: string;
} & ServerOptions;

export type ServerOptions = { readonly server?: string | undefined; readonly retries: number };

/** Reads the options of a run. Throws CliError where they contradict each other. */
export function fileRun(path: string, options: FileOptions, task: Task): FileRun {
  const { output = null, force = false, resume = false, partial = false, quiet = false } = options;
  if (force && resume) throw new CliError("--force begins anew and --resume goes on: use one of them.");
  return {
    task,
    input: {
      path,
      format: options.inputFormat,
      encoding: options.encoding,
      column: options.column,
      header: options.header,
    },
    output: output === "-" ? null : output,
    format: options.format,
    only: options.only === undefined ? null : readStatuses(options.only, task.kind),
    force,
    resume,
    partial,
    quiet,
    server: serverTarget(options),
    job: jobOptions(path, options),
  };
}

function jobOptions(path: string, { job = false, attach, server }: FileOptions): FileRun["job"] {
  if (!job && attach === undefined) return null;
  if (server === undefined) throw new CliError("--job and --attach need --server.");
  if (path === "-")
    throw new CliError("A job needs a file: it is read once to be sent and once to write the results.");
  return { attach: attach ?? null };
}

function readStatuses(text: string, kind: BatchKind): readonly string[] {
  const { statuses } = KINDS[kind];
  const words = text.split(",").map((word) => word.trim().toLowerCase());
  const wrong = words.find((word) => !statuses.includes(word));
  if (wrong !== undefined) throw new CliError(`--only: "${wrong}" is none of ${statuses.join(", ")}.`);
  return words;
}

/** Returns the server that checks, or null for this process. */
export function serverTarget({ server, retries }: ServerOptions): ServerTarget | null {
  if (server === undefined) return null;
  const protocol = URL.canParse(server) ? new URL(server).protocol : "";
  if (protocol === "http:" || protocol === "https:")
    return { url: server.replace(/\/+$/, ""), retriesMax: retries };
  throw new CliError(`--server must be an http or https address, not "${server}".`);
}
