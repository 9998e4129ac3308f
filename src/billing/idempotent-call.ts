import type { EmbeddedStore, ReplyRecord } from "../store/port.ts";
import { sealText, unsealText } from "./encryption.ts";
import type { GrowingBody, ReplyFiles } from "./reply-files.ts";

export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

/** A call that runs under an Idempotency-Key. */
export type IdempotentCall = {
  /** Returns the reply as it is to be written in the transaction of the call's (last) charge. */
  readonly keep: (reply: ReplyHead & { readonly body: string }) => ReplyRecord;
  /** For a reply that is streamed. */
  readonly openBody: () => Promise<ReplyBody>;
  /** To be called when the call ends, however it ends: a key whose reply is not on disk is free again. */
  readonly end: () => void;
};

export type ReplyBody = {
  readonly append: (text: string | Uint8Array) => Promise<void>;
  /** Flushes the body, and returns the reply as `IdempotentCall.keep` does. */
  readonly keep: (head: ReplyHead) => Promise<ReplyRecord>;
  /** The whole body; there once `keep` has resolved. */
  readonly whole: () => string | Blob;
};

type Content = Pick<ReplyRecord, "body" | "bodyFile" | "bodyBytes">;

/** Writes one reply, into the database or beside it, and finds out at the end whether it is there. */
export function createIdempotentCall(dependencies: {
  store: Pick<EmbeddedStore, "findReply">;
  files: ReplyFiles | null;
  /** The row's key and lifetime; no two calls share all four. */
  row: Pick<ReplyRecord, "accountId" | "idempotencyKey" | "fingerprint" | "expiresAt">;
  secret: string | undefined;
  nameFile: () => string;
  fileDone: (name: string) => void;
  ended: (keptBytes: number) => void;
}): IdempotentCall {
  const { store, files, row, secret, nameFile, fileDone, ended } = dependencies;
  let file: { readonly name: string; readonly body: GrowingBody } | undefined;
  let isToBeWritten = false;
  let isEnded = false;

  function recordOf(head: ReplyHead, content: Content): ReplyRecord {
    isToBeWritten = true;
    return { ...row, status: head.status, headers: JSON.stringify(head.headers), ...content };
  }

  async function openFile(replyFiles: ReplyFiles): Promise<ReplyBody> {
    const name = nameFile();
    const body = await replyFiles.create(name);
    file = { name, body };
    if (isEnded) discard(file);
    return {
      append: body.append,
      keep: async (head) => {
        const bodyBytes = await body.finish();
        return recordOf(head, { body: null, bodyFile: name, bodyBytes });
      },
      whole: () => Bun.file(replyFiles.pathOf(name)),
    };
  }

  function discard({ name, body }: { name: string; body: GrowingBody }): void {
    const done = (): void => fileDone(name);
    // A file that cannot be removed now is found by the next pruning.
    body.discard().then(done, done);
  }

  return {
    keep: (reply) => {
      const body = secret === undefined ? reply.body : sealText(reply.body, secret, sealPurpose(row));
      return recordOf(reply, { body, bodyFile: null, bodyBytes: Buffer.byteLength(body) });
    },
    openBody: () => (files === null ? Promise.resolve(bodyInMemory(recordOf)) : openFile(files)),
    end: () => {
      if (isEnded) return;
      isEnded = true;
      const kept = isToBeWritten ? store.findReply(row.accountId, row.idempotencyKey) : null;
      const isKept = kept?.expiresAt === row.expiresAt;
      if (file !== undefined && isKept) fileDone(file.name);
      else if (file !== undefined) discard(file);
      ended(isKept ? kept.bodyBytes : 0);
    },
  };
}

/** The body of a reply that is kept in its row; null where it was sealed with another secret. */
export function keptBody(row: ReplyRecord, secret: string | undefined): string | null {
  const text = row.body ?? "";
  return secret === undefined ? text : unsealText(text, secret, sealPurpose(row));
}

function bodyInMemory(recordOf: (head: ReplyHead, content: Content) => ReplyRecord): ReplyBody {
  const pieces: Uint8Array[] = [];
  return {
    append: async (text) => {
      pieces.push(typeof text === "string" ? Buffer.from(text) : text);
    },
    keep: async (head) => {
      const whole = Buffer.concat(pieces);
      return recordOf(head, { body: whole.toString("utf8"), bodyFile: null, bodyBytes: whole.byteLength });
    },
    whole: () => Buffer.concat(pieces).toString("utf8"),
  };
}

function sealPurpose(row: Pick<ReplyRecord, "accountId" | "idempotencyKey" | "expiresAt">): string {
  return `${row.accountId} ${row.idempotencyKey} ${row.expiresAt}`;
}
