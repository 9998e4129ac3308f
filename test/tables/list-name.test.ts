import { expect, test } from "bun:test";
import { Line } from "../../src/contract/schema.ts";
import { listNameOf } from "../../src/tables/list-name.ts";

test("a list may have the name that is made of any file's", () => {
  const { pattern, maxLength } = Line(200);
  const allowed = new RegExp(String(pattern));
  const refused = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code)).filter(
    (character) => !allowed.test(character),
  );
  expect(refused.length).toBeGreaterThan(70);
  expect(listNameOf(`a${refused.join("")}b.csv`)).toBe("ab.csv");
  expect(listNameOf("n".repeat(255)).length).toBe(maxLength ?? 0);
  expect(listNameOf("מרץ – список.csv")).toBe("מרץ – список.csv");
});
