/** Fills an array of that length with bytes that nobody can guess. */
export type RandomBytes = (length: number) => Uint8Array;

/** The machine's source of secrets. */
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
 * A new key: `asy_` or `asy_test_`, 30 random base62 characters (178 bits), and the CRC32 of what stands before as six
 * base62 digits, so that a mistyped key is refused without a look-up.
 */
export function makeApiKey(randomBytes: RandomBytes, mode: KeyMode = "live"): string {
  const body = KEY_PREFIXES[mode] + randomBase62(SECRET_CHARS, randomBytes);
  return body + checkCharacters(body);
}

/** Returns whether a text is written as a key is: prefix, length, alphabet and check characters. */
export function isApiKeyWellFormed(text: string): boolean {
  if (!hasKeyLength(text) || !KEY.test(text)) return false;
  return checkCharacters(text.slice(0, -CHECK_CHARS)) === text.slice(-CHECK_CHARS);
}

/** Returns whether a text is as long as some key is. */
export function hasKeyLength(text: string): boolean {
  return text.length === LIVE_KEY_CHARS || text.length === TEST_KEY_CHARS;
}

/** Returns what a key is for, by the key itself or by its hint. */
export function modeOfKey(keyOrHint: string): KeyMode {
  return keyOrHint.startsWith(KEY_PREFIXES.test) ? "test" : "live";
}

/**
 * Returns the SHA-256 by which a key is kept, in hex. A random key of 178 bits needs no slow hash, and comparing the
 * hashes gives a guesser nothing about the key.
 */
export function hashApiKey(key: string): string {
  return Bun.SHA256.hash(key, "hex");
}

/** Returns the same SHA-256 in base64, which takes two thirds of the time: for tables in memory. */
export function digestOfKey(key: string): string {
  return Bun.SHA256.hash(key, "base64");
}

/** Returns random base62 characters, each as likely as any other. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: what lies above would favour the first characters.
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
