import { expect, test } from "bun:test";
import { ApiError } from "../../src/contract/errors.ts";
import { parseJson } from "../../src/http/bodies/request-body.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const members = (count: number) =>
  bytesOf(`{${Array.from({ length: count }, (_, at) => `"name${at}":1`).join(",")}}`);
const elements = (count: number) => bytesOf(`{"x":[${Array(count).fill("{}").join(",")}]}`);

test("a body that is parsed at once is not parsed where it holds more values than any call needs", () => {
  const tooMany = new ApiError("payload_too_large", "The body must hold at most 1024 values.");
  expect(Object.keys(parseJson(members(1_000)) as object)).toHaveLength(1_000);
  for (const body of [members(1_025), members(9_000), elements(1_025)]) {
    expect(() => parseJson(body)).toThrow(tooMany);
  }
  // Commas and brackets of a text are no values.
  expect(parseJson(bytesOf(`{"x":"${"[,{".repeat(9_000)}"}`))).toHaveProperty("x");
});
