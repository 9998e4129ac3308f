import { setImmediate as nextTurn } from "node:timers/promises";
import { createShares } from "../../batch/shares.ts";
import { bodyDigest } from "../../billing/call-fingerprint.ts";
import { ApiError } from "../../contract/errors.ts";
import type { FairTurns } from "../../platform/fair-turns.ts";
import { freeBytes } from "../../platform/free-bytes.ts";
import { createBodyRooms } from "./body-rooms.ts";
import { SLICE_BYTES } from "./body-slices.ts";
import { declaredBytes, SMALL_BODY_BYTES_MAX, slicesOf, tooLarge } from "./request-body.ts";

/** A body in memory. Disposing of it frees its bytes. */
export type HeldBody = Disposable & {
  readonly bytes: Uint8Array;
  /** Returns the SHA-256 in hex; with an Idempotency-Key it was computed while the body arrived. */
  readonly digest: () => string;
  /**
   * Frees the bytes, which must not be read any more, as their memory is reused. What was made of them counts in their
   * place until it is disposed of.
   */
  readonly moveHold: () => Disposable;
};

const NO_BYTES = new Uint8Array(0);

/** Reads the bodies of calls. Large ones share a bounded memory. */
export type BodyReader = {
  /**
   * Reads a body. Throws `payload_too_large` as soon as it is known to be over the limit, with the rest unread, and
   * `overloaded` where it is over the tenant's share of what all may hold: at once where its length is declared, else
   * when it is. What has arrived counts, not what is announced: a caller who sends nothing takes no room from others.
   * Where all is held, bodies still arriving for tenants over their share are given up for one below its own. Small
   * bodies always fit.
   */
  readonly read: (
    request: Request,
    options: {
      readonly tenant: string;
      /** For this call alone, where it is less. */
      readonly callBytesMax?: number;
    },
  ) => Promise<HeldBody>;
  readonly heldBytes: () => number;
};

/** The part beyond the bound that tenants below their share may take. */
const OVERFLOW = 1.25;

/** The received part of a body that is arriving. */
type Arrival = {
  readonly tenant: string;
  readonly hash: Bun.CryptoHasher | null;
  /** The memory of its bytes; null for a small body. */
  room: SharedArrayBuffer | null;
  bytes: Uint8Array;
  held: number;
  isGivenUp: boolean;
};

/** `heldBytesMax` bounds all bodies together and is at least `bytesMax`, so that one alone always fits. */
export function createBodyReader({
  bytesMax,
  heldBytesMax,
  heldByTenantBytesMax = heldBytesMax,
  smallBytesMax = SMALL_BODY_BYTES_MAX,
  turns,
}: {
  readonly bytesMax: number;
  readonly heldBytesMax: number;
  /** At least `bytesMax`. */
  readonly heldByTenantBytesMax?: number;
  /** Bodies of at most this declared length are not counted. */
  readonly smallBytesMax?: number;
  /** For parts of bodies that are decoded; each in a turn of the event loop where there are none. */
  readonly turns?: FairTurns;
}): BodyReader {
  const shares = createShares({ capacity: heldBytesMax, guaranteed: bytesMax, overflow: OVERFLOW });
  const arriving = new Set<Arrival>();
  const rooms = createBodyRooms();

  function release(body: Arrival): void {
    if (body.held > 0) shares.release(body.tenant, body.held);
    body.held = 0;
  }

  function giveUp(body: Arrival): void {
    body.isGivenUp = true;
    body.bytes = NO_BYTES;
    arriving.delete(body);
    release(body);
  }

  /** Yields the arriving bodies that may be given up for this tenant: none where it is itself over its share. */
  function* preemptibleFor(tenant: string): Generator<Arrival, void, undefined> {
    if (shares.isOverShare(tenant)) return;
    for (const body of arriving) if (body.tenant !== tenant && shares.isOverShare(body.tenant)) yield body;
  }

  /** Gives up the largest body that may be given up for this tenant. Returns false without one. */
  function giveUpOne(tenant: string): boolean {
    let largest: Arrival | undefined;
    for (const body of preemptibleFor(tenant)) {
      if (largest === undefined || body.held > largest.held) largest = body;
    }
    if (largest === undefined) return false;
    giveUp(largest);
    return true;
  }

  const isOverTenants = (tenant: string, bytes: number) =>
    shares.heldBy(tenant) + bytes > heldByTenantBytesMax;

  function hold(body: Arrival, bytes: number): void {
    if (isOverTenants(body.tenant, bytes)) throw full();
    while (!shares.acquire(body.tenant, bytes)) if (!giveUpOne(body.tenant)) throw full();
    body.held += bytes;
  }

  async function fill(request: Request, body: Arrival, mostBytes: number): Promise<Uint8Array> {
    const declared = declaredBytes(request, mostBytes);
    if (declared !== null && declared <= smallBytesMax) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      body.hash?.update(bytes);
      return bytes;
    }
    if (declared !== null && !mayFit(body.tenant, declared)) throw full();
    const wholeBytes = declared ?? mostBytes;
    arriving.add(body);
    let length = 0;
    const turn = turns === undefined ? undefined : () => turns.turnOf(body.tenant);
    for await (const slice of slicesOf(request, { onTaken: freeBytes, turn })) {
      if (body.isGivenUp) throw full();
      const neededBytes = length + slice.byteLength;
      if (neededBytes > wholeBytes) throw tooLarge(mostBytes);
      hold(body, slice.byteLength);
      if (neededBytes > body.bytes.byteLength) {
        await moveTo(rooms.take(neededBytes, wholeBytes), body, length);
      }
      body.bytes.set(slice, length);
      body.hash?.update(slice);
      length = neededBytes;
    }
    if (body.isGivenUp) throw full();
    if (declared === null) await requireCaller(request);
    return body.bytes.subarray(0, length);
  }

  async function moveTo(room: SharedArrayBuffer, body: Arrival, length: number): Promise<void> {
    const former = { room: body.room, bytes: body.bytes.subarray(0, length) };
    body.room = room;
    body.bytes = new Uint8Array(room);
    for (let start = 0; start < length; start += SLICE_BYTES) {
      body.bytes.set(former.bytes.subarray(start, start + SLICE_BYTES), start);
      await nextTurn();
      if (body.isGivenUp) throw full();
    }
    if (former.room !== null) rooms.giveBack(former.room);
  }

  /** Whether a body of this length fits now, or could once others are given up. */
  function mayFit(tenant: string, bytes: number): boolean {
    if (isOverTenants(tenant, bytes)) return false;
    return shares.fits(tenant, bytes) || preemptibleFor(tenant).next().done === false;
  }

  return {
    async read(request, { tenant, callBytesMax = bytesMax }) {
      const hash = request.headers.has("idempotency-key") ? new Bun.CryptoHasher("sha256") : null;
      const body: Arrival = { tenant, hash, room: null, bytes: NO_BYTES, held: 0, isGivenUp: false };
      try {
        body.bytes = await fill(request, body, Math.min(bytesMax, callBytesMax));
      } catch (error) {
        if (body.room !== null) rooms.giveBack(body.room);
        release(body);
        throw error;
      } finally {
        arriving.delete(body);
      }
      const digest = hash?.digest("hex");
      /** Once the bytes were given out, a thread may read them even after the call has failed: that memory is not reused. */
      let isReadElsewhere = false;
      const letGo = () => {
        if (body.room !== null && !isReadElsewhere) rooms.giveBack(body.room);
        body.room = null;
        body.bytes = NO_BYTES;
      };
      return {
        get bytes() {
          isReadElsewhere = true;
          return body.bytes;
        },
        digest: () => digest ?? bodyDigest(body.bytes),
        moveHold() {
          // From here on the copy counts, and this body holds nothing. What was made of the bytes does not keep them.
          const moved = { ...body, room: null, bytes: NO_BYTES };
          body.held = 0;
          isReadElsewhere = false;
          letGo();
          return { [Symbol.dispose]: () => release(moved) };
        },
        [Symbol.dispose]() {
          letGo();
          release(body);
        },
      };
    },
    heldBytes: () => shares.held(),
  };
}

/**
 * Throws where what follows the last chunk is no HTTP: the runtime refuses that by itself and closes the connection, so
 * that the call would be charged and its reply seen by nobody.
 */
async function requireCaller({ signal }: Request): Promise<void> {
  await nextTurn();
  if (signal.aborted) throw new ApiError("invalid_request", "The connection closed behind the body.");
}

function full(): ApiError {
  return new ApiError("overloaded", "Too many large bodies are being sent at once; try again shortly.");
}
