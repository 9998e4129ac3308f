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

/** Returns what `next` makes of an answer: at once where the answer is there, and later where it has to be waited for. */
export function after<Value, Result>(
  answer: Answer<Value>,
  next: (value: Value) => Answer<Result>,
): Answer<Result> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** Returns what `work` does, after which `end` is called, whether it succeeds or throws. */
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
