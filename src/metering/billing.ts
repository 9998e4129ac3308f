import type { Clock } from "../clock.ts";
import type { Store } from "../store/open.ts";
import type { Meter } from "./meter.ts";

export type Billing = {
  readonly issueDue: () => Promise<{ readonly issued: number; readonly waiting: number }>;
  readonly start: (onProblem?: (error: unknown) => void) => () => void;
};

export declare function createBilling(parts: { store: Store; meter: Meter; clock: Clock }): Billing;
