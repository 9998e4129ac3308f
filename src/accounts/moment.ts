import { dayOf } from "../platform/days.ts";

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Returns the time of an ISO 8601 day or moment, in UTC where it has no offset, whatever the machine's zone is. Null for what
 * is none: `Date.parse` takes days that no month has, and years beyond four digits, to which an offset may lead.
 */
export function momentOf(text: string): number | null {
  const day = text.slice(0, 10);
  const isWhole = text.length === 10 || text.charAt(10) === "T";
  if (!isWhole || !DAY.test(day) || !isCalendarDay(day)) return null;
  const isLocal = text.length > 10 && !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text);
  const at = Date.parse(isLocal ? `${text}Z` : text);
  return Number.isNaN(at) || !DAY.test(dayOf(at)) ? null : at;
}

/** Whether the day exists: Date.parse reads 30 February as 2 March. */
function isCalendarDay(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(at) && dayOf(at) === day;
}
