import { expect, test } from "bun:test";
import { type CheckText, createKeptJudgements } from "../../src/judge/kept-judgements.ts";
import { createPlaceIndex } from "../../src/judge/place-index.ts";

const judgement = (text: string): CheckText => ({ text, tag: '"0000000000001"' });
/** Of an address of one letter behind its question mark, its end, a tag and a text of eight. */
const RECORD_BYTES = 2 + 1 + 15 + 8;
const LIMITS = { bytesMax: 1000, callsMax: 10, heldMs: 100 };

test("texts are held up to their limit, the oldest goes first, and no call leads to one that is gone", () => {
  const kept = createKeptJudgements({ ...LIMITS, bytesMax: 2 * RECORD_BYTES + 1 });
  for (const resource of ["a", "b", "c"]) {
    kept.keep(resource, `?${resource}`, judgement(resource.repeat(8)), 0);
  }
  expect([kept.bytes(), kept.ofResource("a", 0), kept.ofCall("?a", 0)]).toEqual([
    2 * RECORD_BYTES,
    null,
    null,
  ]);
  expect(kept.ofCall("?b", 0)).toEqual(judgement("bbbbbbbb"));
  expect(kept.ofResource("c", 0)).toEqual(judgement("cccccccc"));
});

test("a resource that is forgotten or judged anew is not answered with its former judgement in any spelling", () => {
  const kept = createKeptJudgements(LIMITS);
  kept.keep("a", "?a", judgement("before"), 0);
  kept.name("?%61", "a");
  expect(kept.ofCall("?%61", 0)?.text).toBe("before");
  kept.keep("a", "?a", judgement("after"), 0);
  expect([kept.ofCall("?a", 0)?.text, kept.ofCall("?%61", 0)]).toEqual(["after", null]);
  kept.forget("a");
  expect([kept.ofCall("?a", 0), kept.ofResource("a", 0), kept.bytes()]).toEqual([null, null, 0]);
});

test("the spellings that are remembered are bounded", () => {
  const kept = createKeptJudgements({ ...LIMITS, bytesMax: 10_000, callsMax: 2 });
  kept.keep("a", "?1", judgement("text"), 0);
  for (const asked of ["?2", "?3"]) kept.name(asked, "a");
  expect(["?1", "?2", "?3"].map((asked) => kept.ofCall(asked, 0)?.text)).toEqual([undefined, "text", "text"]);
  const long = `?${"%61".repeat(200)}`;
  kept.name(long, "a");
  kept.keep("b", long, judgement("long"), 0);
  expect([kept.ofCall(long, 0), kept.ofResource("b", 0)?.text]).toEqual([null, "long"]);
});

test("spellings of one resource evict no other one", () => {
  const kept = createKeptJudgements(LIMITS);
  kept.keep("other", "?other", judgement("other"), 0);
  kept.keep("a", "?0", judgement("text"), 0);
  for (let n = 1; n < 50; n++) kept.name(`?${n}`, "a");
  expect([kept.ofCall("?other", 0)?.text, kept.ofCall("?3", 0)?.text]).toEqual(["other", "text"]);
  expect([kept.ofCall("?4", 0), kept.ofResource("a", 0)?.text]).toEqual([null, "text"]);
});

test("none is answered once it is as old as it may be, in a spelling of later neither", () => {
  const kept = createKeptJudgements(LIMITS);
  kept.keep("a", "?a", judgement("a"), 0);
  kept.keep("b", "?b", judgement("b"), 60);
  kept.name("?%61", "a");
  expect(["?a", "?%61", "?b"].map((asked) => kept.ofCall(asked, 99)?.text)).toEqual(["a", "a", "b"]);
  expect(["?a", "?%61", "?b"].map((asked) => kept.ofCall(asked, 100)?.text)).toEqual([
    ...[undefined, undefined, "b"],
  ]);
  expect([kept.ofResource("a", 100), kept.ofCall("?b", 160)]).toEqual([null, null]);
});

test("all are answered with their own, and none once they are cleared, however often places are given anew", () => {
  const kept = createKeptJudgements({ bytesMax: 1_000_000, callsMax: 1000, heldMs: 100 });
  for (let n = 0; n < 3500; n++) kept.keep(`r${n}`, `?${n}`, judgement(`text ${n}`), n / 100);
  const texts = Array.from({ length: 1000 }, (_, n) => kept.ofCall(`?${2500 + n}`, 40)?.text);
  // A few share their bucket with more than it holds.
  const others = texts.filter((text, n) => text !== `text ${2500 + n}`);
  expect([new Set(others), others.length < 30]).toEqual([
    new Set(others.length > 0 ? [undefined] : []),
    true,
  ]);
  expect([kept.ofCall("?2499", 40), kept.ofCall("?350", 40), kept.ofCall("?34999", 40)]).toEqual([
    ...[null, null, null],
  ]);
  kept.clear();
  expect([kept.bytes(), kept.ofCall("?3499", 40), kept.ofResource("r3499", 40)]).toEqual([0, null, null]);
  kept.keep("r", "?r", judgement("anew"), 41);
  expect(kept.ofCall("?r", 42)?.text).toBe("anew");
});

test("an index tells texts with one hash apart, and names the place that it gives up for another", () => {
  const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
  const held = new Map<number, string>();
  const index = createPlaceIndex(20, (place, text) => held.get(place) === text);
  for (const [place, text] of texts.entries()) {
    held.set(place % 20, text);
    const displaced = index.add(text, place % 20);
    if (displaced !== -1 && displaced !== place % 20) held.delete(displaced);
  }
  for (const [place, text] of texts.entries()) {
    const isHeld = held.get(place % 20) === text;
    expect([text, index.find(text)]).toEqual([text, isHeld ? place % 20 : -1]);
  }
  const [[place, text] = [0, ""]] = held;
  index.remove(text, place);
  expect(index.find(text)).toBe(-1);
});
