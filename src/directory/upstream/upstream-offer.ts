import { FUTURE_TOLERANCE_MS } from "../listing.ts";

/** Returns what the head of a reply, or the object around the listings, says of the state that is offered. */
export function offerOf(headers: Headers, envelope: Readonly<Record<string, unknown>>, now: number) {
  const ageMs = Math.max(0, numberOf(headers.get("age")) ?? 0) * 1000;
  const said = timeOf(envelope.generated_at, now) ?? timeOf(headers.get("last-modified"), now);
  const isAge = said === null && headers.has("age");
  return {
    epoch: headers.get("x-directory-epoch") ?? textOf(envelope.epoch),
    version: numberOf(headers.get("x-directory-version")) ?? numberOf(envelope.version),
    cursor: headers.get("x-directory-cursor") ?? textOf(envelope.cursor),
    generatedAt: isAge ? now - ageMs : said,
    /** The time was counted back from an age, so that it is good for the freeze but not for the order of two. */
    isAge,
    ageMs,
  };
}

/** Returns a whole number, written or spoken. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : null;
  return typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Reads a time; null for an invalid one, and for one in the future: every true one after it would look older. */
function timeOf(value: unknown, now: number): number | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return time <= now + FUTURE_TOLERANCE_MS ? time : null;
}
