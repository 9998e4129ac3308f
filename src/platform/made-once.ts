/** A value that is expensive to make, and made with the first use: large tables, prepared statements. */
export type MadeOnce<Made> = {
  readonly get: () => Made;
  /** Returns it, or undefined before it is made. */
  readonly known: () => Made | undefined;
};

/** Calls `make` with the first `get`. */
export function madeOnce<Made extends object>(make: () => Made): MadeOnce<Made> {
  let made: Made | undefined;
  return {
    get() {
      made ??= make();
      return made;
    },
    known: () => made,
  };
}
