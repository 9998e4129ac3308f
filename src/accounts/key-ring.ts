import type { Clock } from "../clock.ts";
import type { Plan, PlanCatalogue } from "../metering/plans.ts";
import type { Store } from "../store/open.ts";

/** Whom a key belongs to, and what the plan of that account allows. */
export type Account = {
  readonly accountId: string;
  readonly plan: Plan;
};

export type KeyRing = {
  /** The account of a key, or null for one that is mistyped, unknown or expired. */
  readonly find: (key: string) => Account | null;
  /** Forgets what is cached of an account: its plan or its keys have changed. */
  readonly forget: (accountId: string) => void;
};

export declare function createKeyRing(parts: { store: Store; plans: PlanCatalogue; clock: Clock }): KeyRing;
