import { FUTURE_TOLERANCE_MS } from "../listing.ts";

/** Returns the metadata of the offered state, from the headers or from the object around the listings. */
export function offerOf(headers: Headers, envelope: Readonly<Record<string, unknown>>, now: number) {
  const ageMs = Math.max(0, numberOf(headers.get("age")) ?? 0) * 1000;
  const stated = timeOf(envelope.generated_at, now) ?? timeOf(headers.get("last-modified"), now);
  const isAge = stated === null && headers.has("age");
  return {
    epoch: headers.get("x-directory-epoch") ?? textOf(envelope.epoch),
    version: numberOf(headers.get("x-directory-version")) ?? numberOf(envelope.version),
    cursor: headers.get("x-directory-cursor") ?? textOf(envelope.cursor),
    generatedAt: isAge ? now - ageMs : stated,
    /** The time is computed from an age: good enough for the freeze breaker, but not to order two exports. */
    isAge,
    ageMs,
  };
}

/** Returns a safe integer, from a number or from decimal digits; null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value : null;
  return typeof value === "string" && /^\d{1,15}$/.test(value.trim()) ? Number(value) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Parses a time; null for an invalid one, and for one in the future, beside which later exports would look older. */
function timeOf(value: unknown, now: number): number | null {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return time <= now + FUTURE_TOLERANCE_MS ? time : null;
}
