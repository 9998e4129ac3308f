import { expect, test } from "bun:test";
import { createKeptJudgements, type KeptJudgement } from "../../src/judge/kept-judgements.ts";

const judgement = (text: string): KeptJudgement => ({
  text,
  tag: '"1"',
  digest: "d",
  stale: false,
  madeMs: 0,
});

test("texts are held up to their limit, the oldest goes first, and no call leads to one that is gone", () => {
  const kept = createKeptJudgements({ bytesMax: 20, callsMax: 10 });
  for (const resource of ["a", "b", "c"]) {
    kept.keep(resource, judgement(resource.repeat(8)));
    kept.name(`?${resource}`, resource);
  }
  expect([kept.bytes(), kept.ofResource("a"), kept.ofCall("?a")]).toEqual([16, null, null]);
  expect([kept.ofCall("?b")?.text, kept.ofResource("c")?.text]).toEqual(["bbbbbbbb", "cccccccc"]);
});

test("a resource that is forgotten or judged anew is not answered with its former judgement in any spelling", () => {
  const kept = createKeptJudgements({ bytesMax: 100, callsMax: 10 });
  kept.keep("a", judgement("before"));
  kept.name("?a", "a");
  kept.name("?%61", "a");
  kept.keep("a", judgement("after"));
  kept.name("?a", "a");
  expect([kept.ofCall("?a")?.text, kept.ofCall("?%61"), kept.bytes()]).toEqual(["after", null, 5]);
  kept.forget("a");
  expect([kept.ofCall("?a"), kept.ofResource("a"), kept.bytes()]).toEqual([null, null, 0]);
});

test("the spellings that are remembered are bounded", () => {
  const kept = createKeptJudgements({ bytesMax: 100, callsMax: 2 });
  kept.keep("a", judgement("text"));
  for (const asked of ["?1", "?2", "?3"]) kept.name(asked, "a");
  expect(["?1", "?2", "?3"].map((asked) => kept.ofCall(asked)?.text)).toEqual([undefined, "text", "text"]);
  const long = `?${"%61".repeat(200)}`;
  kept.name(long, "a");
  expect([kept.ofCall(long), kept.ofCall("?3")?.text]).toEqual([null, "text"]);
});
