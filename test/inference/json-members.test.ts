import { describe, expect, test } from "bun:test";
import { findMembers, withMembers } from "../../src/inference/json-members.ts";

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
      const members = findMembers(text).byName;
      expect([...members.keys()].sort()).toEqual(Object.keys(object).sort());
      for (const [name, { start, end }] of members) {
        expect(JSON.parse(text.slice(start, end))).toEqual(object[name]);
      }
    }
  });

  test("are as long as JSON.stringify writes them, however they are spaced and escaped, in 2,000 random objects", () => {
    for (let round = 0; round < 2000; round += 1) {
      const object = randomObject(3);
      for (const [name, length] of lengthsOf(escaped(JSON.stringify(object, null, round % 3)))) {
        expect([object, name, length]).toEqual([
          object,
          name,
          Buffer.byteLength(JSON.stringify(object[name])),
        ]);
      }
    }
    for (const json of [
      '"\\ud83d\\ude00"',
      '"\\ud83d"',
      '"\\ude00\\ud83d"',
      '"\\uD83D\\n"',
      '"\\/\\u002f\\u0022\\u005C"',
    ]) {
      expect([json, ...lengthsOf(`{"a": ${json}}`)]).toEqual([
        json,
        ["a", Buffer.byteLength(JSON.stringify(JSON.parse(json)))],
      ]);
    }
  });

  test("count a number as it is written, or as it is once parsed where that may be longer", () => {
    const drawn = Array.from({ length: 20_000 }, () => {
      const digits = `${Math.random()}`.slice(2, 2 + Math.ceil(Math.random() * 17));
      const exponent = `${pick(["e", "E"])}${pick(["", "+", "-"])}${Math.floor(Math.random() * 330)}`;
      return `${pick(["", "-"])}${pick(["0.", "0.000000", "7.", "9".repeat(16), "3"])}${digits}${pick(["", exponent, "e3", "e20"])}`;
    });
    const lengthOf = (number: string) => new Map(lengthsOf(`{"a":${number}}`)).get("a") ?? 0;
    const parsedLength = (number: string) => JSON.stringify(JSON.parse(number)).length;
    for (const number of drawn) {
      const exact = Math.max(number.length, parsedLength(number));
      expect([number, lengthOf(number) >= exact, lengthOf(number) <= exact + 6]).toEqual([
        number,
        true,
        true,
      ]);
    }
    for (const number of ["1e21", "1e20", "-1e2", "1e-6", "12e-7", "1.5E30", "9999999999999999"]) {
      expect([number, lengthOf(number)]).toEqual([number, Math.max(number.length, parsedLength(number))]);
    }
    for (const number of ["7".repeat(400), "1e999", "-0", "0e5", "0.50000", "1234567890123456789"]) {
      expect([number, lengthOf(number)]).toEqual([number, number.length]);
    }
  });
});

/** The bytes of each member, less its surplus. */
function lengthsOf(text: string): [string, number][] {
  const members = [...findMembers(text).byName];
  return members.map(([name, { start, end, surplus }]) => [
    name,
    Buffer.byteLength(text.slice(start, end)) - surplus,
  ]);
}

/** Writes some characters of the strings in a JSON text as escapes. */
function escaped(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (string) =>
    string.replace(/\\.|[a-zü]/g, (part) =>
      part.length > 1 || Math.random() < 0.5
        ? part
        : `\\u${part.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  );
}

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
