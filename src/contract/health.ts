/** What a check of one part found. `fail` means that calls cannot be answered or charged. */
export type CheckResult = {
  readonly status: "pass" | "warn" | "fail";
  readonly observed: number | null;
  readonly unit: string | null;
  readonly output?: string;
};

/** The reply of /health. */
export type HealthView = {
  readonly status: "healthy" | "degraded" | "failing";
  readonly version: string;
  readonly uptime_s: number;
  readonly checks: { readonly [part: string]: CheckResult & { readonly time: string } };
};
