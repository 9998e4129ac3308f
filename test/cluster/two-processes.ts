import { SQL } from "bun";
import type { SharedStore } from "../../src/store/port.ts";
import { openSharedStore } from "../../src/store/postgres/open.ts";
import { NOON, signUp } from "../store/store-conformance.ts";
import { emptyDatabase, startPostgres } from "../support/postgres.ts";

/** The stores of two processes, "one" and "two", on one database. */
export type TwoProcesses = AsyncDisposable & {
  readonly one: SharedStore;
  readonly two: SharedStore;
  /** A connection beside theirs. */
  readonly sql: SQL;
  readonly url: string;
  /** Leaves nothing but the account acc_a. */
  readonly reset: () => Promise<void>;
};

export async function openTwoProcesses({
  monotonic = () => performance.now(),
  deadlineMs,
}: {
  readonly monotonic?: () => number;
  readonly deadlineMs?: number;
} = {}): Promise<TwoProcesses> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres());
  const url = await server.createDatabase();
  const sql = stack.adopt(new SQL(url, { max: 1 }), (each) => each.close({ timeout: 0 }));
  const options = {
    url,
    clock: { now: () => NOON, monotonic },
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
  const open = async (processId: string) =>
    stack.adopt(await openSharedStore({ ...options, processId }), (store) => store.close());
  const one = await open("one");
  const two = await open("two");
  const opened = stack.move();
  return {
    one,
    two,
    sql,
    url,
    async reset() {
      await emptyDatabase(url);
      await signUp(one, "acc_a");
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
