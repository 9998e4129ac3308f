/**
 * Calls on by `count` callers at a time in a process that a test starts, until it is stopped by a line on standard input;
 * then prints what `said` returns, and ends.
 */
export async function callUntilStopped(
  count: number,
  callOn: (isStopped: () => boolean) => Promise<void>,
  said: () => object,
): Promise<never> {
  let isStopped = false;
  const running = Promise.all(Array.from({ length: count }, () => callOn(() => isStopped)));
  process.stdout.write("calling\n");
  for await (const _ of console) break;
  isStopped = true;
  await running;
  process.stdout.write(`${JSON.stringify(said())}\n`);
  process.exit(0);
}
