import { describe, expect, test } from "bun:test";
import { createChoices, hasToken, type JsonValue } from "../../src/inference/choices.ts";

function putTogether(chunks: readonly JsonValue[][]): unknown {
  const choices = createChoices();
  for (const chunk of chunks) choices.add(chunk);
  return choices.all();
}

describe("choices put together from deltas", () => {
  test("have the shape of an answer in one piece", () => {
    const together = putTogether([
      [{ index: 1, delta: { role: "assistant", content: "" }, finish_reason: null, logprobs: null }],
      [{ index: 0, delta: { role: "assistant", content: null } }],
      [{ index: 1, delta: { content: "Hello" }, logprobs: { content: [{ token: "Hello" }] } }],
      [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 0, id: "call_1", type: "function", function: { name: "f", arguments: "" } },
            ],
          },
        },
      ],
      [
        {
          index: 0,
          delta: {
            tool_calls: [
              { index: 1, id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
            ],
          },
        },
      ],
      [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] } }],
      [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ":1}" } }] } }],
      [{ index: 1, delta: { content: " world" }, logprobs: { content: [{ token: " world" }] } }],
      [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
      [{ index: 1, delta: {}, finish_reason: "stop" }],
      [],
    ]);
    expect(together).toEqual([
      {
        index: 0,
        message: {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
            { id: "call_2", type: "function", function: { name: "g", arguments: "{}" } },
          ],
        },
        finish_reason: "tool_calls",
      },
      {
        index: 1,
        message: { role: "assistant", content: "Hello world" },
        finish_reason: "stop",
        logprobs: { content: [{ token: "Hello" }, { token: " world" }] },
      },
    ]);
  });

  test("take a time that grows with their number alone", () => {
    const choices = createChoices();
    const startedMs = performance.now();
    for (let count = 0; count < 50_000; count += 1) {
      choices.add([
        { index: 0, delta: { content: "a" }, logprobs: { content: [{ token: "a", logprob: -0.1 }] } },
      ]);
    }
    expect(JSON.stringify(choices.all()).length).toBeGreaterThan(1_000_000);
    expect(performance.now() - startedMs).toBeLessThan(5000);
  });

  test("are not led astray by hostile names", () => {
    const choices = createChoices();
    choices.add([JSON.parse('{"index":0,"delta":{"__proto__":{"polluted":true},"content":"a"}}')]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(JSON.stringify(choices.all())).toBe('[{"index":0,"message":{"content":"a"}}]');
  });
});

test("the first token is text, a call, a refusal or the end, and no role alone", () => {
  const isToken = (delta: JsonValue, finish: string | null = null) =>
    hasToken([{ index: 0, delta, finish_reason: finish }]);
  expect(isToken({ role: "assistant", content: "" })).toBe(false);
  expect(isToken({ role: "assistant", content: null })).toBe(false);
  expect(isToken({})).toBe(false);
  expect(isToken({ content: "a" })).toBe(true);
  expect(isToken({ reasoning_content: "hm" })).toBe(true);
  expect(isToken({ tool_calls: [{ index: 0 }] })).toBe(true);
  expect(isToken({ tool_calls: [] })).toBe(false);
  expect(isToken({}, "stop")).toBe(true);
  expect(hasToken([])).toBe(false);
});
