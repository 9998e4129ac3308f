import {
  accessSync,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { systemCode, systemReason } from "../platform/system-reason.ts";
import { encodeText, type WrittenEncoding } from "../tables/text-form.ts";
import { CliError, EXIT } from "./failure.ts";

/** Where the lines go. */
export type Output = {
  readonly name: string;
  /** A regular file: one that can be gone on with. */
  readonly isResumable: boolean;
  /** Writes the whole text or throws CliError. Waits while a reader of standard output is slow. */
  readonly write: (text: string) => Promise<void>;
  /** Bytes written so far, from the start of the output. */
  readonly position: () => number;
  /** Truncates a regular file to a position. */
  readonly truncate: (position: number) => void;
  /** Makes the written bytes durable. */
  readonly sync: () => void;
  readonly close: () => void;
};

export type OutputOptions = {
  /** Null: standard output. */
  readonly path: string | null;
  readonly force: boolean;
  /** The position to resume at, or null for a new file. */
  readonly resumeAt: number | null;
  /** The input, which must not be written over. */
  readonly inputPath: string;
  readonly encoding: WrittenEncoding;
};

const STDOUT_FD = 1;
const UNSEEN: ReadonlySet<string> = new Set(["ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG"]);
const SLOW_READER_PAUSE_MS = 5;

/** Opens the output. Throws CliError rather than write over a file that was not meant to be. */
export function openOutput(options: OutputOptions): Output {
  const { path, encoding } = options;
  if (path === null) return outputOf("standard output", STDOUT_FD, encoding);
  const before = statOf(path);
  refuseOverwriting(path, before, options);
  const fd = open(path, before?.isFile() === true && options.resumeAt !== null ? "r+" : "w");
  const output = outputOf(path, fd, encoding);
  if (options.resumeAt === null) return output;
  if (fstatSync(fd).size < options.resumeAt) {
    throw new CliError(`${path} is shorter than when it was left; it cannot be gone on with.`);
  }
  output.truncate(options.resumeAt);
  return output;
}

/** Throws CliError where an output could not be opened later: a folder, the input, or where no file can be written. */
export function refuseUnwritable(path: string, inputPath: string): void {
  const before = statOf(path);
  refuseOverwriting(path, before, { inputPath, force: true, resumeAt: null });
  try {
    // Of a file in the place of the folder, the dot is not there.
    accessSync(before === null ? `${dirname(path)}/.` : path, constants.W_OK);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Returns null where nothing is to be seen there: what opens it says why. */
export function statOf(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (UNSEEN.has(systemCode(error))) return null;
    throw error;
  }
}

function refuseOverwriting(
  path: string,
  before: Stats | null,
  options: Pick<OutputOptions, "inputPath" | "force" | "resumeAt">,
): void {
  if (before === null) return;
  if (before.isDirectory()) throw new CliError(`${path} is a folder, not a file.`);
  const input = options.inputPath === "-" ? null : statOf(options.inputPath);
  if (input !== null && input.dev === before.dev && input.ino === before.ino) {
    throw new CliError(`${path} is the input; write the results to another file.`);
  }
  if (options.resumeAt === null && !options.force && before.isFile() && before.size > 0) {
    throw new CliError(`${path} exists; use --force to overwrite it.`);
  }
}

function open(path: string, flags: string): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): CliError {
  const reason = systemCode(error) === "ENOENT" ? "its folder does not exist" : systemReason(error);
  return new CliError(`${path} cannot be written: ${reason}.`);
}

function outputOf(name: string, fd: number, encoding: WrittenEncoding): Output {
  const isResumable = fd !== STDOUT_FD && fstatSync(fd).isFile();
  let position = 0;
  return {
    name,
    isResumable,
    position: () => position,
    async write(text) {
      const bytes = encodeText(text, encoding);
      for (let written = 0; written < bytes.byteLength; ) {
        const count = writeSome(name, fd, bytes.subarray(written), isResumable ? position : null);
        written += count;
        position += count;
        if (count === 0) await Bun.sleep(SLOW_READER_PAUSE_MS);
      }
    },
    truncate(at) {
      if (!isResumable) return;
      position = at;
      ftruncateSync(fd, at);
    },
    sync() {
      if (isResumable) fdatasyncSync(fd);
    },
    close() {
      if (fd !== STDOUT_FD) closeSync(fd);
    },
  };
}

/** Returns 0 where the reader of a pipe is not ready. */
function writeSome(name: string, fd: number, bytes: Uint8Array, position: number | null): number {
  try {
    return writeSync(fd, bytes, 0, bytes.byteLength, position);
  } catch (error) {
    if (systemCode(error) === "EAGAIN") return 0;
    if (systemCode(error) === "EPIPE") throw new CliError("", EXIT.brokenPipe);
    throw new CliError(`${name} cannot be written: ${systemReason(error)}.`, EXIT.stopped, { cause: error });
  }
}
