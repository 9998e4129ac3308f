import { setImmediate as nextTurn } from "node:timers/promises";
import { createShares } from "../batch/shares.ts";
import { bodyDigest } from "../billing/idempotency.ts";
import { ApiError } from "../contract/errors.ts";
import { declaredBytes, forEachPart, SMALL_BODY_BYTES_MAX, tooLarge } from "./request-body.ts";

/** A body that is held in memory until it is disposed of; then it has no bytes, however long it is kept itself. */
export type HeldBody = Disposable & {
  readonly bytes: Uint8Array;
  /** Returns the SHA-256 in hex: where the call has an Idempotency-Key it was taken while the body came. */
  readonly digest: () => string;
  /** Lets the bytes go, as what is made of them takes their room, which counts until that is disposed of. */
  readonly moveHold: () => Disposable;
};

const NO_BYTES = new Uint8Array(0);

/** Reads the large bodies of all calls, within what they may hold together. */
export type BodyReader = {
  /**
   * Reads a body as `readBytes` does; throws `overloaded` where it is over the tenant's share of what all may hold, at
   * once where its length is declared, else when it is. What has arrived counts, not what is announced: a caller who
   * sends nothing takes no room from others. Where all is held, bodies still arriving for tenants over their share are
   * given up for one below its own. Small bodies always fit.
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

/** Beyond what all may hold together, for tenants below their share. */
const OVERFLOW = 1.25;

/** So much of a body is copied and hashed in one turn: with its reception some 2 ms. */
const TURN_BYTES = 262_144;

/** Room for a body is made as it comes: what is announced takes none, nor even addresses of memory. */
const ROOM_BYTES_MIN = 1_048_576;
const ROOM_RATIO = 8;

/** Returns the room for this many bytes of a body: all of it once an eighth is here. */
function roomFor(neededBytes: number, wholeBytes: number): number {
  return Math.min(wholeBytes, Math.max(ROOM_BYTES_MIN, neededBytes * ROOM_RATIO));
}

/** A body that is arriving, as far as it is here. */
type Arrival = {
  readonly tenant: string;
  readonly hash: Bun.CryptoHasher | null;
  bytes: Uint8Array;
  held: number;
  isGivenUp: boolean;
};

/** `heldBytesMax` is for all bodies together and no less than `bytesMax`, so that one alone is always read. */
export function createBodyReader({
  bytesMax,
  heldBytesMax,
}: {
  readonly bytesMax: number;
  readonly heldBytesMax: number;
}): BodyReader {
  const shares = createShares({ capacity: heldBytesMax, guaranteed: bytesMax, overflow: OVERFLOW });
  const arriving = new Set<Arrival>();

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

  /** The largest body still arriving for a tenant over its share. */
  function giveUpOne(tenant: string): boolean {
    if (shares.isOverShare(tenant)) return false;
    let largest: Arrival | undefined;
    for (const body of arriving) {
      if (body.tenant === tenant || !shares.isOverShare(body.tenant)) continue;
      if (largest === undefined || body.held > largest.held) largest = body;
    }
    if (largest === undefined) return false;
    giveUp(largest);
    return true;
  }

  function hold(body: Arrival, bytes: number): void {
    while (!shares.acquire(body.tenant, bytes)) if (!giveUpOne(body.tenant)) throw full();
    body.held += bytes;
  }

  async function fill(request: Request, body: Arrival, mostBytes: number): Promise<Uint8Array> {
    const declared = declaredBytes(request, mostBytes);
    if (declared !== null && declared <= SMALL_BODY_BYTES_MAX) {
      const bytes = new Uint8Array(await request.arrayBuffer());
      body.hash?.update(bytes);
      return bytes;
    }
    if (declared !== null && !shares.fits(body.tenant, declared) && !mayGetRoom(body.tenant)) throw full();
    const wholeBytes = declared ?? mostBytes;
    arriving.add(body);
    let length = 0;
    await forEachPart(request, async (part) => {
      if (body.isGivenUp) throw full();
      const neededBytes = length + part.byteLength;
      if (neededBytes > wholeBytes) throw tooLarge(mostBytes);
      hold(body, part.byteLength);
      if (neededBytes > body.bytes.byteLength) {
        const former = body.bytes.subarray(0, length);
        // Threads read it without a copy. Pages that nothing was written to take no memory yet.
        body.bytes = new Uint8Array(new SharedArrayBuffer(roomFor(neededBytes, wholeBytes)));
        await copy(body, former, 0, null);
      }
      await copy(body, part, length, body.hash);
      length = neededBytes;
    });
    if (body.isGivenUp) throw full();
    return body.bytes.subarray(0, length);
  }

  /** A part that is not taken keeps the next ones off, so that other calls have turns in between. */
  async function copy(
    body: Arrival,
    bytes: Uint8Array,
    offset: number,
    hash: Bun.CryptoHasher | null,
  ): Promise<void> {
    for (let start = 0; start < bytes.byteLength; start += TURN_BYTES) {
      const slice = bytes.subarray(start, start + TURN_BYTES);
      body.bytes.set(slice, offset + start);
      hash?.update(slice);
      await nextTurn();
      if (body.isGivenUp) throw full();
    }
  }

  /** Whether bodies could be given up for the tenant. */
  function mayGetRoom(tenant: string): boolean {
    if (shares.isOverShare(tenant)) return false;
    for (const body of arriving) if (body.tenant !== tenant && shares.isOverShare(body.tenant)) return true;
    return false;
  }

  return {
    async read(request, { tenant, callBytesMax = bytesMax }) {
      const hash = request.headers.has("idempotency-key") ? new Bun.CryptoHasher("sha256") : null;
      const body: Arrival = { tenant, hash, bytes: NO_BYTES, held: 0, isGivenUp: false };
      try {
        body.bytes = await fill(request, body, Math.min(bytesMax, callBytesMax));
      } catch (error) {
        release(body);
        throw error;
      } finally {
        arriving.delete(body);
      }
      const digest = hash?.digest("hex");
      const dispose = () => {
        body.bytes = NO_BYTES;
        release(body);
      };
      return {
        get bytes() {
          return body.bytes;
        },
        digest: () => digest ?? bodyDigest(body.bytes),
        moveHold() {
          const moved = { ...body, bytes: NO_BYTES };
          body.bytes = NO_BYTES;
          body.held = 0;
          return { [Symbol.dispose]: () => release(moved) };
        },
        [Symbol.dispose]: dispose,
      };
    },
    heldBytes: () => shares.held(),
  };
}

function full(): ApiError {
  return new ApiError("overloaded", "Too many large bodies are being sent at once; try again shortly.");
}
