import { existsSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ApiError } from "../contract/errors.ts";
import { type Answer, type AtOnce, after } from "../platform/answer.ts";
import type { Clock } from "../platform/clock.ts";
import { DAY_MS } from "../platform/days.ts";
import { sha256 } from "../platform/sha256.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import type { AdmitPort } from "../store/admit-port.ts";
import type { ReplyPort } from "../store/billing-port.ts";
import type { EmbeddedStore, Upkeep } from "../store/port.ts";
import { readRowBody } from "./body-in-row.ts";
import { type Difference, differenceOf, secretFingerprint } from "./call-fingerprint.ts";
import { createFairShares } from "./fair-shares.ts";
import { createIdempotentCall, type IdempotentCall, keptBody, type ReplyHead } from "./idempotent-call.ts";
import { createReplyFiles } from "./reply-files.ts";

export type { IdempotentCall, ReplyBody, ReplyHead } from "./idempotent-call.ts";

export type KeptReply = ReplyHead & { readonly body: string | ReadableStream<Uint8Array> };

export type IdempotencyStart =
  | { readonly state: "fresh"; readonly call: IdempotentCall }
  | { readonly state: "replay"; readonly reply: KeptReply }
  | { readonly state: "in_progress" }
  | { readonly state: "mismatch"; readonly differs: Difference };

export type Idempotency = {
  /**
   * Decides whether a call runs or is replayed. Throws an ApiError `overloaded` where too many calls of the account run
   * or its kept replies take too much. `secret` is the caller's API key: it encrypts the reply, which is therefore
   * replayed to the same key alone.
   */
  readonly begin: (
    accountId: string,
    key: string,
    fingerprint: string,
    secret: string,
  ) => Answer<IdempotencyStart>;
  /** Removes expired replies: to be called every minute, as they hold personal data. */
  readonly expire: () => Promise<void>;
  /** Does the same, and removes files that belong to no reply: at the start, and every hour. */
  readonly prune: () => Promise<void>;
  /**
   * Counts anew what accounts keep, where other processes keep and remove replies too: exact but for calls that end while
   * the store is read.
   */
  readonly recount: (kept: readonly KeptBytes[]) => void;
  /** Returns the bytes of all kept replies. */
  readonly keptBytes: () => number;
};

/** What the replies of an account take in the store. */
type KeptBytes = Awaited<ReturnType<ReplyPort["keptReplies"]>>[number];

const KEPT_MS = DAY_MS;
const RUNNING_MAX = 20_000;
const RUNNING_GUARANTEED = 32;
const BODY_BYTES_MAX = 512 * 1024 * 1024;
const KEPT_BYTES_MAX = 4 * 1024 * 1024 * 1024;
const PRUNED_ROWS_MAX = 500;

/** Bytes that a reply takes beside its body. */
const ROW_BYTES = 1_024;

/** The part of the capacity that is guaranteed to each account: 4 MB of 4 GB. */
const ACCOUNTS_GUARANTEED = 1024;

/** With this ratio an account alone may take eight ninths of the capacity. */
const SHARE_RATIO = 8;
const RUNNING_LIMITS = { capacity: RUNNING_MAX, ratio: SHARE_RATIO, guaranteed: RUNNING_GUARANTEED };

type IdempotencyStore = Pick<
  ReplyPort & Upkeep,
  Exclude<keyof ReplyPort, "keptReplies" | "replyFiles"> | "requireSettled"
> &
  Pick<EmbeddedStore, "keptReplies" | "replyFiles">;

type IdempotencyDependencies<Stored> = {
  readonly store: Stored;
  readonly directory: string | null;
  readonly clock: Clock;
  /** For the replies of all accounts, rows included. */
  readonly keptBytesMax?: number;
  /** Locks of keys across processes; where other processes serve the same accounts. */
  readonly claims?: Pick<AdmitPort, "claimKey" | "releaseKey">;
};

/**
 * Replays the reply of a POST that is repeated with its Idempotency-Key within 24 hours. A reply is written in the
 * transaction that charges it, so that a crash leaves both or neither. The keys of running calls are held in memory: a
 * crash frees them. Streamed bodies are files in `directory`; without one, as where nodes share a database, they are kept in the row. Nothing of
 * a call is stored in plain text: its key and its fingerprint are hashes, its reply is encrypted with the API key.
 */
export function createIdempotency(
  dependencies: IdempotencyDependencies<Pick<EmbeddedStore, keyof ReplyPort | "requireSettled">>,
): AtOnce<Idempotency>;
export function createIdempotency(dependencies: IdempotencyDependencies<IdempotencyStore>): Idempotency;
export function createIdempotency(dependencies: IdempotencyDependencies<IdempotencyStore>): Idempotency {
  const { store, directory, clock, keptBytesMax = KEPT_BYTES_MAX, claims } = dependencies;
  const files = directory === null ? null : createReplyFiles(directory, BODY_BYTES_MAX);
  /** Hashed account and key → the fingerprint of the call that runs. */
  const running = new Map<string, string>();
  const runningShares = createFairShares(RUNNING_LIMITS);
  const keptShares = createFairShares({
    capacity: keptBytesMax,
    ratio: SHARE_RATIO,
    guaranteed: keptBytesMax / ACCOUNTS_GUARANTEED,
  });
  /** Hashed account and key → what the expired reply takes that a running call is to replace. */
  const replacedBytes = new Map<string, number>();
  const filesInUse = new Set<string>();
  let filesNamed = 0;
  /** Account → what its running calls have taken of its share. */
  const runningBytes = new Map<string, number>();
  const countRunning = (accountId: string, bytes: number) => {
    const after = (runningBytes.get(accountId) ?? 0) + bytes;
    if (after > 0) runningBytes.set(accountId, after);
    else runningBytes.delete(accountId);
  };
  const countKept = (kept: readonly KeptBytes[]) => {
    for (const { accountId, bytes, count } of kept) keptShares.count(accountId, bytes + count * ROW_BYTES);
  };
  countKept(store.keptReplies());

  function start(row: CallRow, secret: string, replaced: ReplyRecord | null): IdempotentCall {
    const { accountId, idempotencyKey } = row;
    if (!runningShares.take(accountId, 1)) throw overloaded("run", 1);
    if (!keptShares.take(accountId, ROW_BYTES)) {
      runningShares.release(accountId, 1);
      throw overloaded("are kept", 600);
    }
    let takenBytes = ROW_BYTES;
    countRunning(accountId, ROW_BYTES);
    running.set(idempotencyKey, row.fingerprint);
    if (replaced !== null) replacedBytes.set(idempotencyKey, replaced.bodyBytes + ROW_BYTES);
    return createIdempotentCall({
      store,
      files,
      bodyBytesMax: BODY_BYTES_MAX,
      row,
      secret,
      nameFile: () => {
        filesNamed += 1;
        const name = `${idempotencyKey}-${row.expiresAt}-${filesNamed}`;
        filesInUse.add(name);
        return name;
      },
      fileDone: (name) => filesInUse.delete(name),
      take: (bytes) => {
        if (!keptShares.take(accountId, bytes)) throw overloaded("are kept", 600);
        takenBytes += bytes;
        countRunning(accountId, bytes);
      },
      ended: (kept) => {
        running.delete(idempotencyKey);
        runningShares.release(accountId, 1);
        countRunning(accountId, -takenBytes);
        const storedBytes = kept === null ? 0 : kept.bodyBytes + ROW_BYTES;
        // What is kept has replaced a former reply under its key.
        const freedBytes = kept === null ? 0 : (replacedBytes.get(idempotencyKey) ?? 0);
        replacedBytes.delete(idempotencyKey);
        keptShares.release(accountId, takenBytes - storedBytes + freedBytes);
        return claims?.releaseKey(accountId, idempotencyKey);
      },
    });
  }

  /** Null where the file of the body is gone, as after a restored backup. */
  function replayOf(row: ReplyRecord, secret: string): KeptReply | null {
    const head = { status: row.status, headers: JSON.parse(row.headers) as Record<string, string> };
    if (row.bodyFile !== null && row.body !== null) {
      return { ...head, body: readRowBody(row.body, secret, row.bodyFile) };
    }
    if (row.bodyFile !== null) {
      if (files === null || !existsSync(files.pathOf(row.bodyFile))) return null;
      return { ...head, body: files.read(row.bodyFile, secret) };
    }
    const body = keptBody(row, secret);
    return body === null ? null : { ...head, body };
  }

  /** Returns the outcome of a call whose key no running call holds. */
  function startOf(row: CallRow, kept: ReplyRecord | null, secret: string, now: number): IdempotencyStart {
    const { fingerprint } = row;
    if (kept !== null && kept.expiresAt > now) {
      if (kept.fingerprint !== fingerprint) return mismatch(kept.fingerprint, fingerprint);
      const reply = replayOf(kept, secret);
      if (reply !== null) return { state: "replay", reply };
    }
    return { state: "fresh", call: start(row, secret, kept) };
  }

  async function expire(): Promise<void> {
    for (;;) {
      const removed = await store.removeExpiredReplies(clock.now(), PRUNED_ROWS_MAX);
      // All before the first file: the disk may fail.
      for (const { accountId, idempotencyKey, bodyBytes } of removed) {
        keptShares.release(accountId, bodyBytes + ROW_BYTES);
        replacedBytes.delete(idempotencyKey);
      }
      for (const { bodyFile } of removed) if (bodyFile !== null) await files?.remove(bodyFile);
      if (removed.length < PRUNED_ROWS_MAX) return;
      await nextTurn();
    }
  }

  return {
    begin: (accountId, key, callFingerprint, secret) => {
      // A reply may be replayed only once its charge is certain.
      store.requireSettled();
      const idempotencyKey = sha256(`${accountId} ${key}`);
      const fingerprint = secretFingerprint(callFingerprint, secret);
      const now = Math.floor(clock.now());
      const runs = running.get(idempotencyKey);
      if (runs === fingerprint) return { state: "in_progress" };
      if (runs !== undefined) return mismatch(runs, fingerprint);
      const row = { accountId, idempotencyKey, fingerprint, expiresAt: now + KEPT_MS };
      const decide = () =>
        after(store.findReply(accountId, idempotencyKey), (kept) => startOf(row, kept, secret, now));
      return claims === undefined ? decide() : beginClaimed(claims, row, decide);
    },

    expire,

    recount: (kept) => {
      keptShares.clear();
      countKept(kept);
      for (const [accountId, bytes] of runningBytes) keptShares.count(accountId, bytes);
    },

    prune: async () => {
      await expire();
      await files?.prune(() => new Set([...store.replyFiles(), ...filesInUse]));
    },

    keptBytes: keptShares.used,
  };
}

/** Locks the key for this process while the call runs. What the call writes is on disk before the lock is released. */
async function beginClaimed(
  claims: Pick<AdmitPort, "claimKey" | "releaseKey">,
  { accountId, idempotencyKey, fingerprint }: CallRow,
  decide: () => Answer<IdempotencyStart>,
): Promise<IdempotencyStart> {
  const claim = await claims.claimKey(accountId, idempotencyKey, fingerprint);
  if (!claim.isClaimed) {
    return claim.fingerprint === fingerprint
      ? { state: "in_progress" }
      : mismatch(claim.fingerprint, fingerprint);
  }
  let isStarted = false;
  try {
    const started = await decide();
    isStarted = started.state === "fresh";
    return started;
  } finally {
    if (!isStarted) await claims.releaseKey(accountId, idempotencyKey);
  }
}

type CallRow = Pick<ReplyRecord, "accountId" | "idempotencyKey" | "fingerprint" | "expiresAt">;

function overloaded(what: "run" | "are kept", retryAfterSeconds: number): ApiError {
  const message = `Too many calls with an Idempotency-Key ${what} for this account; try again later, or without one.`;
  return new ApiError("overloaded", message, { retryAfterSeconds });
}

function mismatch(one: string, other: string): IdempotencyStart {
  return { state: "mismatch", differs: differenceOf(one, other) };
}
