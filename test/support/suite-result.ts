import type { Figure, SuiteResult } from "../../bench/result.ts";

/** What a bench of these figures writes. */
export function resultOf(figures: readonly Figure[]): SuiteResult {
  const machine = {
    cores: 2,
    processor: "a processor",
    memoryGb: 8,
    system: "a system",
    bun: "1.4.5",
    loadBefore: 0,
  };
  return {
    suite: "load",
    at: "2026-01-01T00:00:00Z",
    quick: false,
    machine,
    versions: {},
    figures,
    targets: [],
  };
}
