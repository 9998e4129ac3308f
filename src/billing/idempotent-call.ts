import { type Answer, after } from "../platform/answer.ts";
import type { ReplyRecord } from "../store/account-records.ts";
import type { ReplyPort } from "../store/billing-port.ts";
import type { GrowingBody } from "./body-file.ts";
import { createRowBody, readRowBody } from "./body-in-row.ts";
import { decryptText, encryptText } from "./encryption.ts";
import type { ReplyFiles } from "./reply-files.ts";

export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/** A call that runs under an Idempotency-Key. */
export type IdempotentCall = {
  /**
   * Returns the record to write in the transaction of the call's (last) charge. Throws an ApiError `overloaded` where
   * the account's share of kept replies has no room for it.
   */
  readonly keep: (reply: ReplyHead & { readonly body: string }) => ReplyRecord;
  /** For a reply that is streamed. */
  readonly openBody: () => Promise<ReplyBody>;
  /** Must be called when the call ends. Frees the key unless its reply is on disk. */
  readonly end: () => Answer<void>;
};

export type ReplyBody = {
  /** Takes ownership of the bytes. Throws as `IdempotentCall.keep` does. */
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** Flushes the body, and returns the reply as `IdempotentCall.keep` does. */
  readonly keep: (head: ReplyHead) => Promise<ReplyRecord>;
  /** The whole body, available once `keep` has resolved. */
  readonly whole: () => ReadableStream<Uint8Array>;
};

type Content = Pick<ReplyRecord, "body" | "bodyFile" | "bodyBytes">;

/** Writes one reply, into its row or into a file, and determines at the end whether it was stored. */
export function createIdempotentCall(dependencies: {
  store: Pick<ReplyPort, "findReply">;
  files: ReplyFiles | null;
  /** Of a streamed body, before it is compressed. */
  bodyBytesMax: number;
  /** The row's key and lifetime; no two calls share all four. */
  row: Pick<ReplyRecord, "accountId" | "idempotencyKey" | "fingerprint" | "expiresAt">;
  /** Encrypts the body. */
  secret: string;
  nameFile: () => string;
  fileDone: (name: string) => void;
  /** Acquires bytes of the account's share, or throws. */
  take: (bytes: number) => void;
  /** Called once, with the record if it is on disk. */
  ended: (kept: ReplyRecord | null) => Answer<void>;
}): IdempotentCall {
  const { store, files, bodyBytesMax, row, secret, nameFile, fileDone, take, ended } = dependencies;
  let file: { readonly name: string; readonly body: GrowingBody } | undefined;
  let isToBeWritten = false;
  let isEnded = false;

  function recordOf(head: ReplyHead, content: Content): ReplyRecord {
    isToBeWritten = true;
    return { ...row, status: head.status, headers: JSON.stringify(head.headers), ...content };
  }

  function recordOfText(head: ReplyHead, text: string): ReplyRecord {
    const body = encryptText(text, secret, purposeOf(row));
    take(body.length);
    return recordOf(head, { body, bodyFile: null, bodyBytes: body.length });
  }

  function openRow(): ReplyBody {
    const name = `${purposeOf(row)} body`;
    const growing = createRowBody({ secret, name, bodyBytesMax, take });
    let body = "";
    return {
      append: growing.append,
      keep: async (head) => {
        body = await growing.finish();
        return recordOf(head, { body, bodyFile: name, bodyBytes: body.length });
      },
      whole: () => readRowBody(body, secret, name),
    };
  }

  async function openFile(replyFiles: ReplyFiles): Promise<ReplyBody> {
    const name = nameFile();
    const body = await replyFiles.create(name, secret, take);
    file = { name, body };
    if (isEnded) discard(file);
    return {
      append: body.append,
      keep: async (head) => {
        const bodyBytes = await body.finish();
        return recordOf(head, { body: null, bodyFile: name, bodyBytes });
      },
      whole: () => replyFiles.read(name, secret),
    };
  }

  function discard({ name, body }: { name: string; body: GrowingBody }): void {
    const done = (): void => fileDone(name);
    // A file that cannot be removed now is removed by the next pruning.
    body.discard().then(done, done);
  }

  /** Returns undefined where it cannot be read: a charged call is answered, and frees its key, even so. */
  function findWritten(): Answer<ReplyRecord | null | undefined> {
    try {
      const found = store.findReply(row.accountId, row.idempotencyKey);
      return found instanceof Promise ? found.catch(() => undefined) : found;
    } catch {
      return undefined;
    }
  }

  return {
    keep: (reply) => recordOfText(reply, reply.body),
    openBody: () => (files === null ? Promise.resolve(openRow()) : openFile(files)),
    end: () => {
      if (isEnded) return;
      isEnded = true;
      return after(isToBeWritten ? findWritten() : null, (found) => {
        const kept = found?.expiresAt === row.expiresAt ? found : null;
        // A row that was not read may name the file; where none does, the next pruning removes it.
        const mayBeNamed = kept !== null || found === undefined;
        if (file !== undefined && mayBeNamed) fileDone(file.name);
        else if (file !== undefined) discard(file);
        return ended(kept);
      });
    },
  };
}

/** Returns the body of a reply that is kept in its row; null where it was encrypted with another secret. */
export function keptBody(row: ReplyRecord, secret: string): string | null {
  return decryptText(row.body ?? "", secret, purposeOf(row));
}

function purposeOf(row: Pick<ReplyRecord, "accountId" | "idempotencyKey" | "expiresAt">): string {
  return `${row.accountId} ${row.idempotencyKey} ${row.expiresAt}`;
}
