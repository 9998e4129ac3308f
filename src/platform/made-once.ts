/** What is made when it is first asked for, as it takes its time: large tables, and statements of a database. */
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
