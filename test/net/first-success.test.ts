import { expect, test } from "bun:test";
import { firstSuccess } from "../../src/net/first-success.ts";

test("the next item is tried at once where one fails, and the last failure is returned", async () => {
  const tried: number[] = [];
  const attempt = async (item: number): Promise<number> => {
    tried.push(item);
    if (item < 3) throw new Error(`item ${item}`);
    return item;
  };
  expect(await firstSuccess([1, 2, 3, 4], 60_000, attempt)).toBe(3);
  expect(tried).toEqual([1, 2, 3]);
  await expect(firstSuccess([1, 2], 60_000, attempt)).rejects.toThrow("item 2");
});

test("the next item is tried too where one is silent, and the losers are aborted", async () => {
  const aborted: string[] = [];
  const first = Promise.withResolvers<string>();
  let answerSecond = (): Promise<string> => Promise.resolve("second");
  const attempt = (item: string, signal: AbortSignal): Promise<string> => {
    signal.addEventListener("abort", () => aborted.push(item));
    return item === "first" ? first.promise : answerSecond();
  };
  expect(await firstSuccess(["first", "second"], 10, attempt)).toBe("second");
  expect(aborted).toEqual(["first"]);
  // The silent one may still succeed while the next one fails.
  answerSecond = () => {
    first.resolve("first");
    return Promise.reject(new Error("refused"));
  };
  expect(await firstSuccess(["first", "second"], 10, attempt)).toBe("first");
  expect(aborted).toEqual(["first", "second"]);
});
