/** Skips the first `count` values. */
export async function* skipFirst<Value>(
  values: AsyncIterable<Value>,
  count: number,
): AsyncGenerator<Value, void, undefined> {
  let passed = 0;
  for await (const value of values) {
    if (passed >= count) yield value;
    else passed += 1;
  }
}
