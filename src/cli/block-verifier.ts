import type { Budget } from "../billing/budget.ts";
import type { Result } from "../tables/task.ts";

/** Items of one block, at most: a run that is broken off verifies those under way again. */
export const BLOCK_ROWS_MAX = 500;

/** Checks items, here or on a server. */
export type Verifier = AsyncDisposable & {
  /** Items that one block may have. */
  readonly blockRowsMax: number;
  /** Blocks that are worth having under way. */
  readonly blocksInFlight: number;
  /** The units that are left to the account; null where nothing is charged. */
  readonly budget: Budget | null;
  /** A sentence about a fault of the data behind the results, such as of the DNS; null without one. */
  readonly trouble: () => Promise<string | null>;
  /** Returns the results of the items in their order. `name` is the same whenever the block is verified again. */
  readonly verify: (items: readonly string[], name: string) => Promise<BlockResults>;
  /** Throws CliError unless an input may end after this number of rows. */
  readonly refuseOtherEnd: (rows: number) => void;
};

export type BlockResults = { readonly results: readonly Result[]; readonly unitsCharged: number };

/** A server to check on. */
export type ServerTarget = {
  readonly url: string;
  /** How often a call is repeated that got no answer, or was asked to wait. */
  readonly retriesMax: number;
};
