import type { Clock } from "../platform/clock.ts";
import type { OutputFormat } from "../tables/table.ts";
import type { Task } from "../tables/task.ts";
import type { ServerTarget, Verifier } from "./block-verifier.ts";
import type { InputOptions } from "./input.ts";

/** The options of checking a file. */
export type FileRun = {
  readonly task: Task;
  readonly input: InputOptions;
  /** Null: standard output. */
  readonly output: string | null;
  /** Undefined: by the output's name, or by the input's form. */
  readonly format: OutputFormat | undefined;
  /** Statuses to write; null: all. */
  readonly only: readonly string[] | null;
  readonly force: boolean;
  readonly resume: boolean;
  /** Begin although the units left do not pay for all rows. */
  readonly partial: boolean;
  readonly quiet: boolean;
  /** Null: check here. */
  readonly server: ServerTarget | null;
  /** On the server by a job: a new one, or the one that is named. Null: by calls that wait. */
  readonly job: { readonly attach: string | null } | null;
};

/** A file that is verified by a job of a server. */
export type JobRun = FileRun & {
  readonly server: NonNullable<FileRun["server"]>;
  readonly job: NonNullable<FileRun["job"]>;
};

export type FileRunDependencies = {
  readonly openVerifier: (task: Task, server: ServerTarget | null) => Promise<Verifier>;
  readonly clock: Clock;
  readonly newRunId: () => string;
  readonly stderr: NodeJS.WriteStream;
  /** Results that scroll by on a terminal are progress enough. */
  readonly isStdoutTerminal: boolean;
  /** Registers the handler of an interruption, which keeps the state and returns the message. */
  readonly onInterrupt: (stop: () => string) => void;
};
