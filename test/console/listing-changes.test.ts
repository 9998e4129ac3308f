import { expect, test } from "bun:test";
import type { Api } from "../../src/console/page/wire/api.ts";
import { changesOf } from "../../src/console/page/wire/listing-changes.ts";
import { Refusal } from "../../src/console/page/wire/refusal.ts";

const gone = () => new Refusal("Not all are kept.", { status: 404, code: "not_found", requestId: null });
const page = (at: string, hasMore: boolean) => ({
  epoch: "e",
  changes: [
    { host: "one.example", at },
    { host: "two.example", at },
  ],
  next_cursor: at,
  has_more: hasMore,
});

/** Reads the history of a host from a feed of these pages; counts the calls. */
async function read(pageOf: (call: number) => object | Error) {
  let calls = 0;
  const api = {
    async read() {
      const found = pageOf(calls);
      calls += 1;
      if (found instanceof Error) throw found;
      return found;
    },
  } as unknown as Api;
  const { changes, end } = await changesOf(api, "one.example", new AbortController().signal);
  return { dates: changes.map(({ at }) => at), end, calls };
}

test("the history of a listing is read to the end of the feed, and shown newest first", async () => {
  expect(await read((call) => page(`day ${call}`, call < 2))).toEqual({
    dates: ["day 2", "day 1", "day 0"],
    end: "whole",
    calls: 3,
  });
});

test("a feed of more changes than are read is cut, and its newest changes are those that are missing", async () => {
  const { end, calls, dates } = await read((call) => page(`day ${call}`, true));
  expect([end, calls, dates[0]]).toEqual(["cut", 40, "day 39"]);
});

test("a feed whose beginning is no longer kept is another case than one without a change", async () => {
  expect(await read(gone)).toEqual({ dates: [], end: "gone", calls: 1 });
  expect(await read(() => ({ ...page("day 0", false), changes: [] }))).toMatchObject({ end: "whole" });
});

test("a feed whose changes are removed while they are read ends behind what was read, and is not called too long", async () => {
  expect(await read((call) => (call === 0 ? page("day 0", true) : gone()))).toEqual({
    dates: ["day 0"],
    end: "overtaken",
    calls: 2,
  });
});
