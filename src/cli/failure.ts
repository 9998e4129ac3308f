/** How the command ends, for scripts. */
export const EXIT = {
  done: 0,
  /** The command was wrong, or its input cannot be read. */
  badInput: 1,
  /** Done, but some items could not be checked. */
  someUnchecked: 2,
  /** Stopped half-way: the disk or the server failed. */
  stopped: 3,
  interrupted: 130,
  terminated: 143,
  /** The reader of standard output has left. */
  brokenPipe: 141,
} as const;

/** Ends the command with one sentence. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.badInput, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
