/** What is made when it is first asked for: large tables, whose room is taken then, in milliseconds each. */
export type MadeOnce<Made> = {
  readonly get: () => Made;
  /** Returns it, or undefined before it is made. */
  readonly known: () => Made | undefined;
};

/** Returns what calls `make` with the first `get`, which the start need not wait for. */
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
