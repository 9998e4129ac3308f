import { expect, test } from "bun:test";
import { createListener } from "../../src/store/postgres/connection/listener.ts";
import { until } from "../support/caller.ts";
import { startPostgres } from "../support/postgres.ts";

test("each listener that joins a channel is notified once it listens, however many have joined before", async () => {
  await using postgres = await startPostgres();
  const listener = createListener({ urls: [await postgres.createDatabase()], processId: "process_a" });
  const told: string[] = [];
  const join = (name: string) =>
    listener.listen("assay_test", { onMessage: () => {}, resumed: () => told.push(name) });
  try {
    const leave = join("first");
    await until("the first", () => told.length === 1);
    join("second");
    await until("the second", () => told.includes("second"));
    leave();
    join("third");
    await until("the third", () => told.includes("third"));
    expect(told).toEqual(["first", "second", "third"]);
  } finally {
    listener.close();
  }
});
