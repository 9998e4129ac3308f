/** A result that is synchronous where possible, and a promise where it has to wait. */
export type Answer<T> = T | Promise<T>;

/** The same functions with synchronous results; those that always return a promise are unchanged. */
export type AtOnce<Functions> = {
  readonly [Name in keyof Functions]: Functions[Name] extends (...values: infer Values) => infer Returned
    ? (...values: Values) => Immediate<Returned>
    : Functions[Name];
};

type Immediate<Returned> = [Exclude<Returned, Promise<unknown>>] extends [never]
  ? Returned
  : Exclude<Returned, Promise<unknown>>;

/** Applies `next` to an answer: synchronously if it is not a promise. */
export function after<Value, Result>(
  answer: Answer<Value>,
  next: (value: Value) => Answer<Result>,
): Answer<Result> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** Returns the result of `work`, and calls `end` after it, whether it succeeds or throws. */
export function finallyDo<Result>(work: () => Answer<Result>, end: () => void): Answer<Result> {
  let answer: Answer<Result>;
  try {
    answer = work();
  } catch (error) {
    end();
    throw error;
  }
  if (answer instanceof Promise) return answer.finally(end);
  end();
  return answer;
}
