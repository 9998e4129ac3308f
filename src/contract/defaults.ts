/** What holds where a caller leaves a parameter or a field out: for the schemas, their descriptions and the handlers. */
export const DEFAULTS = {
  deep: false,
  dns: true,
  plan: "free",
  usageGroupBy: "day",
  invoicesLimit: 10,
  overlapSeconds: 0,
  jobKind: "email",
  jobsLimit: 10,
  whenOutOfUnits: "refuse",
  deliveriesLimit: 20,
} as const;
