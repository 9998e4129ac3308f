import { createHmac, timingSafeEqual } from "node:crypto";

/** The validity of a quote. */
export const QUOTE_MS = 300_000;

/** A price for one request, which the server can verify without state. */
export type Quote = { readonly quoteId: string; readonly microUsd: number; readonly expiresAt: number };

export type Quotes = {
  /** Binds a price to a request, by the SHA-256 of its body, for 300 s. */
  readonly make: (requestSha256: string, microUsd: number) => Quote;
  /** Returns the quote with this id for this request and price, also after it has expired; null where there was none. */
  readonly find: (quoteId: string, requestSha256: string, microUsd: number) => Quote | null;
};

const QUOTE_ID = /^quote_([0-9a-z]{1,10})_([A-Za-z0-9_-]{43})$/;

/** Creates stateless quotes: the id contains the expiry and a keyed hash of request and price. */
export function createQuotes(secret: string, now: () => number): Quotes {
  const macOf = (expires: string, requestSha256: string, microUsd: number): Buffer =>
    createHmac("sha256", secret).update(`quote\n${expires}\n${requestSha256}\n${microUsd}`).digest();
  return {
    make(requestSha256, microUsd) {
      // Whole seconds, rounded down: never longer than is said.
      const seconds = Math.floor((now() + QUOTE_MS) / 1000);
      const expires = seconds.toString(36);
      const mac = macOf(expires, requestSha256, microUsd).toString("base64url");
      return { quoteId: `quote_${expires}_${mac}`, microUsd, expiresAt: seconds * 1000 };
    },
    find(quoteId, requestSha256, microUsd) {
      const [, expires, mac] = QUOTE_ID.exec(quoteId) ?? [];
      if (expires === undefined || mac === undefined) return null;
      const expected = macOf(expires, requestSha256, microUsd);
      const given = Buffer.from(mac, "base64url");
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
      return { quoteId, microUsd, expiresAt: Number.parseInt(expires, 36) * 1000 };
    },
  };
}
