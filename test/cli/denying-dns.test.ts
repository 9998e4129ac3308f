import { expect, test } from "bun:test";
import { openCommandRoom } from "./command.ts";

const DENYING = "$NOPROVIDERS\ngood.com MX 10 mx.good.com\nmx.good.com A 8.8.8.8";
const SENTENCE =
  "The DNS denies that gmail.com exists: nothing that it denies is believed until it finds it. Check DNS_SERVERS.\n";

test("a run on a DNS that denies large providers says so in one sentence and ends with 2", async () => {
  await using room = await openCommandRoom(DENYING);

  const item = await room.run(["email", "jane@github.com", "--json"]);
  expect([item.exitCode, item.stderr]).toEqual([2, SENTENCE]);
  expect(JSON.parse(item.stdout)).toMatchObject({ status: "unknown", sub_status: "dns_error" });
  const input = await room.write("list.csv", "email\njane@good.com\n");
  const file = await room.run([input, "--quiet"]);
  expect([file.exitCode, file.stderr]).toEqual([2, SENTENCE]);
  expect(file.stdout).toContain("deliverable");
});
