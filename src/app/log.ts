import pino from "pino";
import { systemClock } from "../platform/clock.ts";
import type { LogLevel } from "./settings.ts";

/** Writes one JSON object per line. Callers pass facts, never an address, a key, a document or a number. */
export type Log = {
  readonly [level in Exclude<LogLevel, "silent">]: (event: string, facts?: Facts) => void;
} & {
  /** Whether lines of this level are written: facts need not be gathered for those that are not. */
  readonly writes: (level: Exclude<LogLevel, "silent">) => boolean;
  /** Writes what is gathered, at once. */
  readonly flush: () => void;
};

type Facts = { readonly [name: string]: unknown };

/** Takes whole lines. */
export type LogSink = { readonly write: (line: string) => void; readonly flush?: () => void };

/** Creates a log on a sink, by default the one that gathers lines for standard output. */
export function createLog(level: LogLevel, sink: LogSink = standardOutput()): Log {
  const options = { level, base: null, timestamp: isoTime(), messageKey: "event" };
  const logger = pino(options, sink);
  const write = (name: Exclude<LogLevel, "silent">) => (event: string, facts?: Facts) =>
    logger[name](facts ?? {}, event);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    writes: (name) => logger.isLevelEnabled(name),
    flush: () => sink.flush?.(),
  };
}

/** The time of a line. Lines of one millisecond share the text, which takes longer to make than the rest. */
function isoTime(): () => string {
  let madeMs = Number.NaN;
  let text = "";
  return () => {
    const now = systemClock.now();
    if (now !== madeMs) text = `,"time":"${new Date(now).toISOString()}"`;
    madeMs = now;
    return text;
  };
}

const FLUSH_MS = 200;
const FLUSH_CHARACTERS = 32_768;

/** Gathers lines and writes them together, so that a call does not pay for a system call. */
function standardOutput(): LogSink {
  let gathered = "";
  let isClosed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = gathered;
    gathered = "";
    if (text !== "" && !isClosed) process.stdout.write(text);
  };
  // What is not taken is lost, and ends nobody's calls: a disk may be full for a while, a reader that has ended is gone.
  process.stdout.on("error", (error) => {
    isClosed ||= "code" in error && error.code === "EPIPE";
  });
  return {
    write(line) {
      // One that has stopped must not stop the server: what it leaves behind is bounded.
      if (isClosed || process.stdout.writableLength > BACKLOG_BYTES_MAX) return;
      gathered += line;
      if (gathered.length >= FLUSH_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}

const BACKLOG_BYTES_MAX = 4_194_304;

/**
 * Returns what may be logged of something thrown: its class, its code and where it came from. Not its message, which
 * may quote what a caller sent.
 */
export function errorFacts(error: unknown): Facts {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s*at /.test(line));
  return {
    error: error.name,
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    stack: frames.slice(0, 12).map((line) => line.trim()),
    ...(error.cause === undefined ? {} : { cause: errorFacts(error.cause) }),
  };
}
