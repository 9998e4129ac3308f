/** What a part answers at once where it can, and later where it has to wait. */
export type Answer<T> = T | Promise<T>;

/** The same functions where none of them has to wait; those that always do stay as they are. */
export type AtOnce<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (...values: infer Values) => infer Returned
    ? (...values: Values) => Immediate<Returned>
    : Functions[Name];
};

type Immediate<Returned> = [Exclude<Returned, Promise<unknown>>] extends [never]
  ? Returned
  : Exclude<Returned, Promise<unknown>>;
