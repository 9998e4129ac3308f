import { setTimeout as elapsed } from "node:timers/promises";
import type { Clock } from "../platform/clock.ts";
import { within } from "../platform/within.ts";
import type { Call } from "./call.ts";
import { clientAddressKey } from "./client-address-key.ts";

/**
 * Bounds the bytes of bodies that are read after their reply was decided. The runtime reads what a reply has left unread
 * as fast as it is sent, however much it is, as a caller may read the reply only once all is sent. That takes time which
 * no charge pays for.
 */
export type UnreadBodies = {
  /**
   * Resolves when a reply may leave that leaves these bytes unread; true where its connection is to close behind it, with
   * the rest of the body unread.
   */
  readonly pass: (
    call: Pick<Call, "account" | "clientAddress" | "request">,
    bytes: number,
  ) => Promise<boolean>;
};

/** Less has mostly come with the head. */
const UNREAD_BYTES_MIN = 65_536;
/** How long a body without a length, or of more than comes at once, is read before its reply leaves: it may end. */
const READ_ON_MS = 250;
/** A smaller part counts as this much: reading it takes as long. */
const PART_BYTES_MIN = 1_024;
/** Of one caller, about a hundredth of a core; the largest bodies of two calls come at once. */
const BYTES_PER_MS = 16_384;
const BYTES_AT_ONCE = 67_108_864;
/** How long a reply waits for its turn, or to close: as long as its caller is asked to wait before the next call. */
const HELD_MS = 1_000;
const HELD_MAX = 4_096;
const CALLERS_MAX = 10_000;

/** Yields the parts of a call's body. Until their end is reached, the call counts as one that leaves its body halfway. */
export async function* untilEnd(
  call: Pick<Call, "isBodyLeft">,
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  call.isBodyLeft = true;
  yield* parts;
  call.isBodyLeft = false;
}

/**
 * Returns how many bytes a reply with this status leaves unread, infinitely many where nothing says it; 0 where they are
 * few. `isBodyLeft` says that the body was left before its end, whatever the status.
 */
export function unreadBytes(request: Request, status: number, isBodyLeft = false): number {
  const { headers } = request;
  const declared = headers.get("content-length");
  if (declared === null && !headers.has("transfer-encoding")) return 0;
  const bytes = Number(declared ?? Number.POSITIVE_INFINITY);
  if (bytes <= UNREAD_BYTES_MIN) return 0;
  if (request.bodyUsed && !isBodyLeft && !isLeftHalfway(headers, status)) return 0;
  // The same length that is sent twice arrives as a list.
  return Number.isNaN(bytes) ? Number.POSITIVE_INFINITY : bytes;
}

/** Whether a body may be left before its end: where it is too long, found to be without room, or not of its encoding. */
function isLeftHalfway(headers: Headers, status: number): boolean {
  return status === 413 || status === 503 || (status === 400 && headers.has("content-encoding"));
}

export function createUnreadBodies({ monotonic }: Pick<Clock, "monotonic">, heldMs = HELD_MS): UnreadBodies {
  /** When all that was left unread for a caller is read at its pace. Who was seen longest ago comes first. */
  const readAtMs = new Map<string, number>();
  let held = 0;

  /** How long the caller's bytes have to wait; null where that is too long. */
  function waitMs(caller: string, bytes: number): number | null {
    const nowMs = monotonic();
    const nextMs = Math.max(readAtMs.get(caller) ?? nowMs, nowMs) + bytes / BYTES_PER_MS;
    const overMs = Math.max(0, nextMs - nowMs - BYTES_AT_ONCE / BYTES_PER_MS);
    if (overMs > heldMs) return null;
    readAtMs.delete(caller);
    for (const oldest of readAtMs.keys()) {
      if (readAtMs.size < CALLERS_MAX) break;
      readAtMs.delete(oldest);
    }
    readAtMs.set(caller, nextMs);
    return overMs;
  }

  /** Holds a reply back for this time; false, and at once, where too many are held. */
  async function hold(ms: number): Promise<boolean> {
    if (held >= HELD_MAX) return false;
    held += 1;
    await elapsed(ms);
    held -= 1;
    return true;
  }

  /** Reads on as far as the caller may without waiting, and returns whether that was all. */
  async function readOn({ method, body, bodyUsed }: Request, caller: string): Promise<boolean> {
    // The runtime shows no body of these, and reads it all the same.
    if (body === null) return method !== "GET" && method !== "HEAD";
    if (bodyUsed) return false;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      if (waitMs(caller, Math.max(value.byteLength, PART_BYTES_MIN)) !== 0) return false;
    }
  }

  return {
    async pass(call, bytes) {
      const caller = call.account?.accountId ?? clientAddressKey(call.clientAddress());
      const isEndless = bytes > BYTES_AT_ONCE;
      const ms = waitMs(caller, isEndless ? UNREAD_BYTES_MIN : bytes);
      if (ms === null) {
        await hold(heldMs);
        return true;
      }
      if (ms > 0) {
        const isHeld = await hold(ms);
        return isEndless || !isHeld;
      }
      if (!isEndless) return false;
      // Who breaks its body off has no use for the connection.
      const read = await within(
        readOn(call.request, caller).catch(() => false),
        READ_ON_MS,
      );
      return read?.result !== true;
    },
  };
}
