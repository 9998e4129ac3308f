import { existsSync } from "node:fs";
import type { Clock } from "../clock.ts";
import { ApiError } from "../errors.ts";
import type { Store } from "../store/open.ts";
import type { ReplyRow } from "../store/reply-store.ts";
import { createReplyFiles, type GrowingBody, type ReplyFiles } from "./reply-files.ts";
import { sealText, unsealText } from "./sealed-text.ts";

export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export type IdempotencyStart =
  | { readonly state: "fresh"; readonly call: IdempotentCall }
  | { readonly state: "replay"; readonly reply: ReplyHead & { readonly body: string | Blob } }
  | { readonly state: "in_progress" }
  | { readonly state: "mismatch" };

/** A call that runs under an Idempotency-Key. */
export type IdempotentCall = {
  /** What writes the reply: to be called inside the transaction of the call's (last) charge. */
  readonly keep: (reply: ReplyHead & { readonly body: string }) => () => void;
  /** For a reply that is streamed. */
  readonly openBody: () => Promise<ReplyBody>;
  /** To be called when the call ends, however it ends: a key whose reply is not on disk is free again. */
  readonly end: () => void;
};

export type ReplyBody = {
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** Flushes the body; the result writes the reply, as that of `IdempotentCall.keep`. */
  readonly keep: (head: ReplyHead) => Promise<() => void>;
  /** The whole body; there once `keep` has resolved. */
  readonly whole: () => string | Blob;
};

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
 * memory knows: a crash frees them. Large bodies are files in `directory`; without one they are kept in memory
 * until they are written, for tests.
 */
export function createIdempotency(parts: {
  store: Store;
  directory: string | null;
  clock: Clock;
  keptBytesMax?: number;
}): Idempotency {
  const { store, directory, clock, keptBytesMax = KEPT_BYTES_MAX } = parts;
  const files = directory === null ? null : createReplyFiles(directory, BODY_BYTES_MAX);
  /** Account and key → the fingerprint of the call that runs. */
  const running = new Map<string, string>();
  const filesInUse = new Set<string>();
  let keptBytes = store.replies.bodyBytes();
  let filesMade = 0;

  function start(
    accountId: string,
    key: string,
    fingerprint: string,
    secret: string | undefined,
  ): IdempotentCall {
    const id = `${accountId} ${key}`;
    const expiresAt = Math.floor(clock.now()) + KEPT_MS;
    const base = { accountId, idempotencyKey: key, fingerprint, expiresAt };
    let body: { readonly file: string; readonly content: GrowingBody } | undefined;
    let bytesToKeep: number | undefined;
    running.set(id, fingerprint);

    const write =
      (head: ReplyHead, content: Pick<ReplyRow, "body" | "bodyFile" | "bodyBytes">) => (): void => {
        bytesToKeep = content.bodyBytes;
        const headers = JSON.stringify(head.headers);
        store.replies.remove(accountId, key);
        store.replies.insert({ ...base, status: head.status, headers, ...content });
      };

    function end(): void {
      if (!running.delete(id)) return;
      const row = bytesToKeep === undefined ? undefined : store.replies.find(accountId, key);
      const isKept = row?.expiresAt === expiresAt;
      if (isKept) keptBytes += row.bodyBytes;
      if (body === undefined) return;
      const { file, content } = body;
      if (isKept) filesInUse.delete(file);
      // A file that cannot be removed now is found by the next pruning.
      else
        content.discard().then(
          () => filesInUse.delete(file),
          () => filesInUse.delete(file),
        );
    }

    return {
      keep: (reply) => {
        const text = secret === undefined ? reply.body : sealText(reply.body, secret, sealPurpose(base));
        return write(reply, { body: text, bodyFile: null, bodyBytes: Buffer.byteLength(text) });
      },
      openBody: async () => {
        if (files === null) return bodyInMemory(write);
        filesMade += 1;
        const file = `${sha256(id)}-${expiresAt}-${filesMade}`;
        filesInUse.add(file);
        const content = await files.create(file);
        body = { file, content };
        return {
          append: content.append,
          keep: async (head) => {
            const bodyBytes = await content.finish();
            return write(head, { body: null, bodyFile: file, bodyBytes });
          },
          whole: () => Bun.file(files.pathOf(file)),
        };
      },
      end,
    };
  }

  return {
    begin: (accountId, key, fingerprint, secret) => {
      const runningFingerprint = running.get(`${accountId} ${key}`);
      if (runningFingerprint !== undefined) {
        return { state: runningFingerprint === fingerprint ? "in_progress" : "mismatch" };
      }
      const row = store.replies.find(accountId, key);
      if (row !== undefined && row.expiresAt > clock.now()) {
        if (row.fingerprint !== fingerprint) return { state: "mismatch" };
        const body = bodyOf(row, files, secret);
        if (body === null) return { state: "mismatch" };
        if (body !== undefined) {
          const headers = JSON.parse(row.headers) as Record<string, string>;
          return { state: "replay", reply: { status: row.status, headers, body } };
        }
      }
      if (running.size >= RUNNING_MAX || keptBytes >= keptBytesMax) {
        throw new ApiError("overloaded", "Too many calls with an Idempotency-Key; try again later.", {
          retryAfterSeconds: running.size >= RUNNING_MAX ? 1 : 600,
        });
      }
      return { state: "fresh", call: start(accountId, key, fingerprint, secret) };
    },

    prune: async () => {
      while (store.replies.removeExpired(clock.now(), PRUNED_ROWS_MAX) === PRUNED_ROWS_MAX) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      keptBytes = store.replies.bodyBytes();
      await files?.prune(() => new Set([...store.replies.bodyFiles(), ...filesInUse]));
    },
  };
}

/** The body of a kept reply; null where another key sealed it, undefined where its file is gone. */
function bodyOf(
  row: ReplyRow,
  files: ReplyFiles | null,
  secret: string | undefined,
): string | Blob | null | undefined {
  if (row.bodyFile === null) {
    const text = row.body ?? "";
    return secret === undefined ? text : unsealText(text, secret, sealPurpose(row));
  }
  const path = files?.pathOf(row.bodyFile);
  // A database that was restored from a backup comes without these files.
  return path !== undefined && existsSync(path) ? Bun.file(path) : undefined;
}

function bodyInMemory(
  write: (head: ReplyHead, content: Pick<ReplyRow, "body" | "bodyFile" | "bodyBytes">) => () => void,
): ReplyBody {
  const pieces: Uint8Array[] = [];
  return {
    append: async (text) => {
      pieces.push(typeof text === "string" ? Buffer.from(text) : text);
    },
    keep: async (head) => {
      const whole = Buffer.concat(pieces);
      return write(head, { body: whole.toString("utf8"), bodyFile: null, bodyBytes: whole.byteLength });
    },
    whole: () => Buffer.concat(pieces).toString("utf8"),
  };
}

function sealPurpose(row: Pick<ReplyRow, "accountId" | "idempotencyKey" | "expiresAt">): string {
  return `${row.accountId} ${row.idempotencyKey} ${row.expiresAt}`;
}

/** Printable ASCII, 1 to 255 characters, bare or as a quoted string of structured fields. */
export function parseIdempotencyKey(header: string): string | null {
  const text = header.trim();
  const isQuoted = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  const key = isQuoted ? text.slice(1, -1).replace(/\\(["\\])/g, "$1") : text;
  return /^[\x20-\x7e]{1,255}$/.test(key) ? key : null;
}

/** What must be the same for two calls to be one: method, path with query, and body. */
export function idempotencyFingerprint(method: string, path: string, body: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(`${method} ${path}\n`).update(body).digest("hex");
}

function sha256(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
