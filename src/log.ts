import pino from "pino";
import type { LogLevel } from "./config.ts";

/** Writes one JSON object per line. Callers pass facts, never an address, a key, a document or a number. */
export type Log = {
  readonly [level in Exclude<LogLevel, "silent">]: (event: string, facts?: Facts) => void;
} & { readonly flush: () => void };

type Facts = { readonly [name: string]: unknown };

export type LogSink = { write: (line: string) => void };

/** Lines are gathered and written together, at the latest after this time. */
const FLUSH_MS = 250;

/** A log on standard output; tests pass a sink of their own. */
export function createLog(level: LogLevel, sink?: LogSink): Log {
  const output = pino.destination({ fd: 1, sync: false, minLength: 8192, periodicFlush: FLUSH_MS });
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: "event" };
  const logger = pino(options, sink ?? output);
  const write = (name: Exclude<LogLevel, "silent">) => (event: string, facts?: Facts) =>
    logger[name](facts ?? {}, event);
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
    flush: () => output.flushSync(),
  };
}

/**
 * What may be logged of something thrown: its class, its code and where it came from. Not its message, which
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
