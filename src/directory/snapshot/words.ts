import type { Listing } from "../listing.ts";

const WORD_LENGTH_MAX = 32;
const LISTING_WORDS_MAX = 512;
const COMBINING_MARKS = /\p{M}+/gu;
const WORD = /[\p{L}\p{N}]+/gu;

/**
 * Returns the words of a text in order: runs of letters and digits, in lower case without accents, truncated to 32
 * characters.
 */
export function wordsOf(text: string): string[] {
  const plain = isAscii(text) ? text : text.normalize("NFKD").replace(COMBINING_MARKS, "");
  const words = plain.toLowerCase().match(WORD) ?? [];
  return words.map((word) => (word.length > WORD_LENGTH_MAX ? truncate(word) : word));
}

/** Truncates a word. Half a surrogate pair at its end would not survive UTF-8, so that the word is not found. */
function truncate(word: string): string {
  return word.slice(0, WORD_LENGTH_MAX).toWellFormed();
}

/**
 * Returns the distinct words by which a listing is found: those of host, name, description and the paths of its
 * resources.
 */
export function wordsOfListing(listing: Listing): Set<string> {
  const paths = listing.resources.map((resource) => resource.url.slice(resource.url.indexOf("/", 8)));
  const text = `${listing.host} ${listing.service_name ?? ""} ${listing.description} ${paths.join(" ")}`;
  const words = new Set<string>();
  for (const word of wordsOf(text)) {
    words.add(word);
    if (words.size >= LISTING_WORDS_MAX) break;
  }
  return words;
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}
