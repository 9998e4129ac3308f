/** Returns cryptographically random bytes. */
export type RandomBytes = (length: number) => Uint8Array;

/** The machine's cryptographic random source. */
export const systemRandomBytes: RandomBytes = (length) => crypto.getRandomValues(new Uint8Array(length));

export type KeyMode = "live" | "test";

export const KEY_PREFIXES: { readonly [mode in KeyMode]: string } = { live: "asy_", test: "asy_test_" };
const SECRET_CHARS = 30;
const CHECK_CHARS = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY = /^asy_(?:test_)?[0-9A-Za-z]{36}$/;
const LIVE_KEY_CHARS = KEY_PREFIXES.live.length + SECRET_CHARS + CHECK_CHARS;
const TEST_KEY_CHARS = KEY_PREFIXES.test.length + SECRET_CHARS + CHECK_CHARS;

/**
 * Creates a key: `asy_` or `asy_test_`, 30 random base62 characters (178 bits), and the CRC32 of all that as six base62
 * digits, so that a mistyped key is refused without a look-up.
 */
export function makeApiKey(randomBytes: RandomBytes, mode: KeyMode = "live"): string {
  const body = KEY_PREFIXES[mode] + randomBase62(SECRET_CHARS, randomBytes);
  return body + checkCharacters(body);
}

/** Returns whether a text has the form of a key: prefix, length, alphabet and check characters. */
export function isApiKeyWellFormed(text: string): boolean {
  if (!hasKeyLength(text) || !KEY.test(text)) return false;
  return checkCharacters(text.slice(0, -CHECK_CHARS)) === text.slice(-CHECK_CHARS);
}

/** Returns whether a text has the length of a key. */
export function hasKeyLength(text: string): boolean {
  return text.length === LIVE_KEY_CHARS || text.length === TEST_KEY_CHARS;
}

/** Returns the mode of a key, from the key or its hint. */
export function modeOfKey(keyOrHint: string): KeyMode {
  return keyOrHint.startsWith(KEY_PREFIXES.test) ? "test" : "live";
}

/**
 * Returns the SHA-256 under which a key is stored, in hex. A random key of 178 bits needs no slow hash, and the timing of a
 * comparison of hashes reveals nothing about the key.
 */
export function hashApiKey(key: string): string {
  return Bun.SHA256.hash(key, "hex");
}

/** Returns the SHA-256 in base64, in two thirds of the time: for tables in memory. */
export function digestOfKey(key: string): string {
  return Bun.SHA256.hash(key, "base64");
}

/** Returns random base62 characters, uniformly distributed. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: larger bytes are rejected, as they would favour the first characters.
      if (byte < 248 && text.length < length) text += BASE62.charAt(byte % 62);
    }
  }
  return text;
}

function checkCharacters(body: string): string {
  let rest = Bun.hash.crc32(body);
  let digits = "";
  for (let place = 0; place < CHECK_CHARS; place += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
