import { createShares } from "../batch/shares.ts";
import { ApiError } from "../contract/errors.ts";
import { bodyEncoding, decodedParts } from "./content-encoding.ts";

/** What every route with a body says to the router: leave it, so that an unauthenticated one is never read. */
export const BODY_UNREAD = { parse: "none" } as const;

/** The largest body of everything but batches. So small, bodies are not counted together. */
export const SMALL_BODY_BYTES_MAX = 131_072;

/**
 * Reads a body of at most `bytesMax` bytes; throws `payload_too_large` as soon as it is known to be larger,
 * with the rest unread. For small bodies: those of batches have a `BodyReader`.
 */
export async function readBytes(request: Request, bytesMax: number): Promise<Uint8Array> {
  const declared = declaredBytes(request, bytesMax);
  if (declared !== null) return new Uint8Array(await request.arrayBuffer());
  return readParts(request, bytesMax);
}

/** A body that is held in memory until it is disposed of; then it has no bytes, however long it is kept itself. */
export type HeldBody = Disposable & {
  readonly bytes: Uint8Array;
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

/** A body that is arriving, as far as it is here. */
type Arrival = { readonly tenant: string; bytes: Uint8Array; held: number; isGivenUp: boolean };

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
      return new Uint8Array(await request.arrayBuffer());
    }
    if (declared !== null && !shares.fits(body.tenant, declared) && !mayGetRoom(body.tenant)) throw full();
    // Threads read it without a copy. Pages that nothing was written to take no memory yet.
    body.bytes = new Uint8Array(new SharedArrayBuffer(declared ?? mostBytes));
    arriving.add(body);
    let length = 0;
    await forEachPart(request, (part) => {
      if (body.isGivenUp) throw full();
      if (length + part.byteLength > body.bytes.byteLength) throw tooLarge(mostBytes);
      hold(body, part.byteLength);
      body.bytes.set(part, length);
      length += part.byteLength;
    });
    if (body.isGivenUp) throw full();
    return body.bytes.subarray(0, length);
  }

  /** Whether bodies could be given up for the tenant. */
  function mayGetRoom(tenant: string): boolean {
    if (shares.isOverShare(tenant)) return false;
    for (const body of arriving) if (body.tenant !== tenant && shares.isOverShare(body.tenant)) return true;
    return false;
  }

  return {
    async read(request, { tenant, callBytesMax = bytesMax }) {
      const body: Arrival = { tenant, bytes: NO_BYTES, held: 0, isGivenUp: false };
      try {
        body.bytes = await fill(request, body, Math.min(bytesMax, callBytesMax));
      } catch (error) {
        release(body);
        throw error;
      } finally {
        arriving.delete(body);
      }
      const dispose = () => {
        body.bytes = NO_BYTES;
        release(body);
      };
      return {
        get bytes() {
          return body.bytes;
        },
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

/** Throws `unsupported_media_type` unless the body is said to be JSON. A call without a body need not say so. */
export function requireJson(request: Request): void {
  const type = mediaType(request);
  if (type === "" && isEmpty(request)) return;
  if (!isJson(type)) throw new ApiError("unsupported_media_type");
}

/** Parses JSON in UTF-8; an empty body reads as an empty object. Throws `invalid_json`. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) return {};
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ApiError("invalid_json");
  }
}

/** The media type of a request in lower case, without its parameters; empty where none is sent. */
export function mediaType(request: Request): string {
  const header = request.headers.get("content-type") ?? "";
  const end = header.indexOf(";");
  return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
}

export function isJson(type: string): boolean {
  return type === "application/json" || type.endsWith("+json");
}

function isEmpty(request: Request): boolean {
  return request.headers.get("content-length") === "0" || request.body === null;
}

/** The length that a call states of its decoded body, or null; throws `payload_too_large` where it is over the limit. */
function declaredBytes(request: Request, bytesMax: number): number | null {
  const declared = request.headers.get("content-length");
  if (declared === null) return null;
  if (Number(declared) > bytesMax) throw tooLarge(bytesMax);
  return bodyEncoding(request) === null ? Number(declared) : null;
}

/** A body without a declared length is counted as it comes in. */
async function readParts(request: Request, bytesMax: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  await forEachPart(request, (part) => {
    length += part.byteLength;
    if (length > bytesMax) throw tooLarge(bytesMax);
    parts.push(part);
  });
  return Buffer.concat(parts, length);
}

/** Where `work` throws, the rest of the body is left unread. */
async function forEachPart(request: Request, work: (part: Uint8Array) => void): Promise<void> {
  if (request.body === null) return;
  const encoding = bodyEncoding(request);
  const parts = encoding === null ? request.body : decodedParts(request.body, encoding);
  for await (const part of parts) work(part);
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("payload_too_large", `The body must be at most ${bytesMax} bytes.`);
}
