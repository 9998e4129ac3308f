import type { Clock } from "../clock.ts";
import type { Store } from "../store/open.ts";

export type ReplyHead = { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export type IdempotencyStart =
  | { readonly state: "fresh"; readonly call: IdempotentCall }
  | { readonly state: "replay"; readonly reply: ReplyHead & { readonly body: string | Blob } }
  | { readonly state: "in_progress" }
  | { readonly state: "mismatch" };

export type IdempotentCall = {
  readonly keep: (reply: ReplyHead & { readonly body: string }) => () => void;
  readonly openBody: () => Promise<ReplyBody>;
  readonly end: () => void;
};

export type ReplyBody = {
  readonly append: (text: string | Uint8Array) => Promise<void>;
  readonly keep: (head: ReplyHead) => Promise<() => void>;
};

export type Idempotency = {
  readonly begin: (accountId: string, key: string, fingerprint: string) => IdempotencyStart;
  readonly prune: () => Promise<void>;
};

export declare function createIdempotency(parts: {
  store: Store;
  directory: string | null;
  clock: Clock;
}): Idempotency;

export declare function parseIdempotencyKey(header: string): string | null;

export declare function idempotencyFingerprint(
  method: string,
  path: string,
  body: string | Uint8Array,
): string;
