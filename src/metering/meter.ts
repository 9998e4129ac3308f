import type { Clock } from "../clock.ts";
import type { Store } from "../store/open.ts";
import type { PlanCatalogue } from "./plans.ts";

export type MeteredAccount = { readonly accountId: string };

export type Charge = {
  /** The route's template, at most 64 characters: what the usage is grouped by. */
  readonly endpoint: string;
  readonly units: number;
};

/** Units that are kept free for one call, until they are recorded or released. */
export type Reservation = {
  readonly accountId: string;
  readonly units: number;
  readonly record: (charge: Charge, alongside?: () => void) => Promise<void>;
  readonly release: () => void;
  readonly chargedUnits: () => number;
  readonly remainingUnits: () => number | null;
};

export type MonthQuota = {
  readonly limitUnits: number;
  readonly remainingUnits: number;
  readonly resetSeconds: number;
};

export type Meter = {
  readonly reserve: (account: MeteredAccount, units: number) => Reservation;
  readonly countCall: (account: MeteredAccount, endpoint: string) => void;
  readonly remainingUnits: (account: MeteredAccount) => number | null;
  readonly month: (account: MeteredAccount) => MonthQuota;
  readonly close: () => Promise<void>;
};

export declare function createMeter(parts: {
  store: Store;
  plans: PlanCatalogue;
  clock: Clock;
  planChanged: (accountId: string) => void;
}): Meter;
