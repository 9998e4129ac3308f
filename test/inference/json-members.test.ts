import { describe, expect, test } from "bun:test";
import { memberSpans, withMembers } from "../../src/inference/json-members.ts";

describe("members of a JSON object in its text", () => {
  test("are set, and nothing else changes to the letter", () => {
    const text = ' { "seed" : 9007199254740993, "model":"a\\"}b" ,"x":[{"model":"c"}], "stream" : true } ';
    expect(withMembers(text, { model: '"m"', extra: '{"y":1}' })).toBe(
      ' { "seed" : 9007199254740993, "model":"m" ,"x":[{"model":"c"}], "stream" : true ,"extra":{"y":1}} ',
    );
  });

  test("are added to an empty object", () => {
    expect(withMembers("{}", { a: "1", b: "null" })).toBe('{"a":1,"b":null}');
  });

  test("of equal names: the last counts, as for JSON.parse", () => {
    expect(JSON.parse(withMembers('{"a":1,"a":2}', { a: "3" })).a).toBe(3);
  });

  test("stand where JSON.parse finds them, in 2,000 random objects", () => {
    for (let round = 0; round < 2000; round += 1) {
      const object = randomObject(3);
      const text = JSON.stringify(object, null, round % 3);
      const spans = memberSpans(text);
      expect([...spans.keys()].sort()).toEqual(Object.keys(object).sort());
      for (const [name, { start, end }] of spans) {
        expect(JSON.parse(text.slice(start, end))).toEqual(object[name]);
      }
    }
  });
});

const TEXTS = ['"', "\\", "{", "}", "[", "]", ",", ":", "ü", "\n", "\\u0022", "a b"];

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

function randomObject(depth: number): { [name: string]: unknown } {
  const names = Array.from({ length: Math.floor(Math.random() * 5) }, (_, at) => `${pick(TEXTS)}${at}`);
  return Object.fromEntries(names.map((name) => [name, randomValue(depth)]));
}

function randomValue(depth: number): unknown {
  if (depth > 0 && Math.random() < 0.3) return randomObject(depth - 1);
  if (depth > 0 && Math.random() < 0.3) return [randomValue(depth - 1), randomValue(depth - 1)];
  return pick<unknown>([null, true, false, -1.5e-7, 12, `${pick(TEXTS)}${pick(TEXTS)}`, "", [], {}]);
}
