export const DAY_MS = 86_400_000;

/** Returns the UTC day of a time: "2026-11-20". */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
