import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../contract/errors.ts";
import type { Clock } from "../platform/clock.ts";
import type { EmbeddedStore, ReplyPort, ReplyRecord } from "../store/port.ts";
import { createIdempotentCall, type IdempotentCall, keptBody, type ReplyHead } from "./idempotent-call.ts";
import { createReplyFiles } from "./reply-files.ts";

export type { IdempotentCall, ReplyBody, ReplyHead } from "./idempotent-call.ts";

export type KeptReply = ReplyHead & { readonly body: string | Blob };

export type IdempotencyStart =
  | { readonly state: "fresh"; readonly call: IdempotentCall }
  | { readonly state: "replay"; readonly reply: KeptReply }
  | { readonly state: "in_progress" }
  | { readonly state: "mismatch"; readonly differs: Difference };

/** In what a call is another than the one that used its Idempotency-Key before. */
export type Difference = (typeof COMPARED)[number] | "API key";

/** What must be the same for two calls to be one, in the order in which a difference is named. */
const COMPARED = ["path", "query", "Content-Type", "Accept", "body"] as const;

export type Idempotency = {
  /**
   * Finds out whether a call may run. Throws an ApiError `overloaded` where too many run or too much is kept.
   * `secret` is the caller's API key, on routes whose reply holds a secret: the reply is then kept encrypted
   * with it, and replayed to the same key alone.
   */
  readonly begin: (
    accountId: string,
    key: string,
    fingerprint: string,
    secret?: string | undefined,
  ) => IdempotencyStart;
  /** Removes expired replies and files that belong to none: at the start, and every hour. */
  readonly prune: () => Promise<void>;
};

const KEPT_MS = 86_400_000;
const RUNNING_MAX = 20_000;
const BODY_BYTES_MAX = 512 * 1024 * 1024;
const KEPT_BYTES_MAX = 4 * 1024 * 1024 * 1024;
const PRUNED_ROWS_MAX = 500;

/**
 * Replays the reply of a POST that is sent again with its Idempotency-Key within 24 hours. A reply is written in
 * the transaction that charges it, so that after a crash there are both or neither. Which keys are running only
 * memory knows: a crash frees them. Streamed bodies are files in `directory`; without one they are collected in
 * memory and kept in the row, for tests.
 */
export function createIdempotency(dependencies: {
  store: Pick<EmbeddedStore, keyof ReplyPort | "requireSettled">;
  directory: string | null;
  clock: Clock;
  keptBytesMax?: number;
}): Idempotency {
  const { store, directory, clock, keptBytesMax = KEPT_BYTES_MAX } = dependencies;
  const files = directory === null ? null : createReplyFiles(directory, BODY_BYTES_MAX);
  /** Account and key → the fingerprint of the call that runs. */
  const running = new Map<string, string>();
  const filesInUse = new Set<string>();
  let keptBytes = store.replyBytes();
  let filesNamed = 0;

  function start(
    id: string,
    row: Parameters<typeof createIdempotentCall>[0]["row"],
    secret: string | undefined,
  ) {
    running.set(id, row.fingerprint);
    return createIdempotentCall({
      store,
      files,
      row,
      secret,
      nameFile: () => {
        filesNamed += 1;
        const name = `${sha256(id)}-${row.expiresAt}-${filesNamed}`;
        filesInUse.add(name);
        return name;
      },
      fileDone: (name) => filesInUse.delete(name),
      ended: (bytes) => {
        running.delete(id);
        keptBytes += bytes;
      },
    });
  }

  /** Undefined where the file of the body is gone, as after a restored backup. */
  function replayOf(row: ReplyRecord, secret: string | undefined): IdempotencyStart | undefined {
    const path = row.bodyFile === null ? undefined : files?.pathOf(row.bodyFile);
    if (row.bodyFile !== null && (path === undefined || !existsSync(path))) return undefined;
    const body = path === undefined ? keptBody(row, secret) : Bun.file(path);
    if (body === null) return { state: "mismatch", differs: "API key" };
    const headers = JSON.parse(row.headers) as Record<string, string>;
    return { state: "replay", reply: { status: row.status, headers, body } };
  }

  return {
    begin: (accountId, key, fingerprint, secret) => {
      // A reply may be replayed only once its charge is certain.
      store.requireSettled();
      const id = `${accountId} ${key}`;
      const now = Math.floor(clock.now());
      const runs = running.get(id);
      if (runs === fingerprint) return { state: "in_progress" };
      if (runs !== undefined) return mismatch(runs, fingerprint);
      const kept = store.findReply(accountId, key);
      if (kept !== null && kept.expiresAt > now) {
        if (kept.fingerprint !== fingerprint) return mismatch(kept.fingerprint, fingerprint);
        const replay = replayOf(kept, secret);
        if (replay !== undefined) return replay;
      }
      if (running.size >= RUNNING_MAX) throw overloaded(1);
      if (keptBytes >= keptBytesMax) throw overloaded(600);
      const row = { accountId, idempotencyKey: key, fingerprint, expiresAt: now + KEPT_MS };
      return { state: "fresh", call: start(id, row, secret) };
    },

    prune: async () => {
      while (store.removeExpiredReplies(clock.now(), PRUNED_ROWS_MAX) === PRUNED_ROWS_MAX) {
        await nextTurn();
      }
      keptBytes = store.replyBytes();
      await files?.prune(() => new Set([...store.replyFiles(), ...filesInUse]));
    },
  };
}

function overloaded(retryAfterSeconds: number): ApiError {
  const message = "Too many replies are kept for an Idempotency-Key; try again later, or without one.";
  return new ApiError("overloaded", message, { retryAfterSeconds });
}

/** Printable ASCII, 1 to 255 characters, bare or as a quoted string of structured fields. */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, "$1") : text;
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : null;
}

/** A call as far as two of them must be alike to be one. */
export type RepeatableCall = {
  readonly method: string;
  readonly pathname: string;
  readonly search: string;
  readonly contentType: string;
  readonly accept: string;
  readonly body: string | Uint8Array;
};

/** Returns the hashes of what is compared, in the order of COMPARED; the method is part of the path. */
export function idempotencyFingerprint(call: RepeatableCall): string {
  const { method, pathname, search, contentType, accept, body } = call;
  return [`${method} ${pathname}`, search, contentType, accept, body].map(sha256).join(" ");
}

function mismatch(one: string, other: string): IdempotencyStart {
  const hashes = one.split(" ");
  const others = other.split(" ");
  const differs = COMPARED.find((_, place) => hashes[place] !== others[place]);
  return { state: "mismatch", differs: differs ?? "body" };
}

function sha256(text: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
