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

/** Returns the code of a failure of the system, such as ENOENT. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

const WORDS: { readonly [code: string]: string } = {
  ENOENT: "it does not exist",
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  EISDIR: "it is a folder",
  ENOTDIR: "its folder is a file",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "it would be larger than files may be here",
  EROFS: "the disk is read-only",
  EIO: "the disk failed",
};

/** Says in words why the system refused. */
export function systemReason(error: unknown): string {
  const code = systemCode(error);
  return WORDS[code] ?? (code === "" ? String(error instanceof Error ? error.message : error) : code);
}
