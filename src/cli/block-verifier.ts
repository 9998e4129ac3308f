import type { Result } from "./task.ts";

/** Checks items, here or on a server. */
export type Judge = AsyncDisposable & {
  /** Items that one block may have. */
  readonly blockRowsMax: number;
  /** Blocks that are worth having under way. */
  readonly blocksInFlight: number;
  /** The results of the items in their order. `name` is the same whenever the block is judged again. */
  readonly judge: (items: readonly string[], name: string) => Promise<Judged>;
};

export type Judged = { readonly results: readonly Result[]; readonly unitsCharged: number };

/** A server to check on. */
export type ServerWish = {
  readonly url: string;
  /** How often a call is repeated that got no answer, or was told to wait. */
  readonly retriesMax: number;
};
