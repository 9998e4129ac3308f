import type { Clock } from "../clock.ts";

export type Store = {
  readonly probe: () => void;
  readonly checkpoint: () => void;
  readonly close: () => void;
  readonly transact: <T>(work: () => T) => T;
};

export declare function openStore(
  options:
    | { readonly dataDir: string; readonly clock: Clock }
    | { readonly path: ":memory:"; readonly clock: Clock },
): Store;
