/** The longest date that is parsed: an HTTP date has 29 characters. */
const DATE_CHARACTERS_MAX = 40;

/** Reads a Retry-After in seconds or as a date (RFC 9110, 10.2.3), in ms from `now`; null where it is missing or invalid. */
export function retryAfterMs(text: string | null, now: number): number | null {
  const trimmed = text?.trim() ?? "";
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1000;
  if (!/^[A-Z][a-z]{2},/.test(trimmed) || trimmed.length > DATE_CHARACTERS_MAX) return null;
  const date = Date.parse(trimmed);
  return Number.isNaN(date) ? null : Math.max(date - now, 0);
}
