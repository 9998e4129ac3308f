import { expect, test } from "bun:test";
import { createFairShares } from "../../src/billing/fair-shares.ts";
import { createChoices } from "../../src/inference/choices.ts";
import { createEventParser } from "../../src/inference/event-stream.ts";
import type { StreamFollower } from "../../src/inference/open-stream.ts";
import { relayStream } from "../../src/inference/relay.ts";

/** A stream on its way to a caller, event by event. */

const STEP = 32_768;

function eventOf(content: string, finish: string | null = null): string {
  return JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
}

/** Begins a stream of a payer; `events` lets some come. */
function begin(room: ReturnType<typeof createFairShares>, payer: string) {
  let follower: StreamFollower | undefined;
  const seen = { sent: "", cancelled: 0, outcomes: [] as string[], hasEnded: false, choices: [] as unknown };
  const relay = relayStream(
    {
      follow: (by) => {
        follower = by;
      },
      pause: () => {},
      resume: () => {},
      cancel: () => {
        seen.cancelled += 1;
      },
    },
    {
      ...{ includesUsage: false, keepAliveMs: 60_000 },
      answerBytesMax: 1_000_000,
      room: {
        take: (bytes) => room.take(payer, bytes),
        release: (bytes) => room.release(payer, bytes),
      },
      onEnd: ({ outcome, choices }) => {
        seen.outcomes.push(outcome);
        seen.choices = choices;
        return { receipt: '"r"' };
      },
    },
  );
  relay.body.flow({
    write: (part) => {
      seen.sent += part;
    },
    end: () => {
      seen.hasEnded = true;
    },
    fail: (error) => {
      throw error;
    },
  });
  return {
    seen,
    relay,
    events: (...events: string[]) => follower?.events(events),
    end: () => follower?.end({ isComplete: true, reason: null }),
  };
}

test("streams hold no more of their answers than there is room for, and no payer takes that of all others", () => {
  const room = createFairShares({ capacity: 8 * STEP, ratio: 1, guaranteed: STEP });
  const greedy = Array.from({ length: 8 }, () => begin(room, "greedy"));
  for (const stream of greedy) stream.events(eventOf("a".repeat(STEP)));
  expect(room.used()).toBeLessThanOrEqual(4 * STEP);
  const broken = greedy.filter(({ seen }) => seen.hasEnded);
  expect(broken).toHaveLength(6);
  for (const { seen } of broken) {
    expect([seen.cancelled, seen.outcomes]).toEqual([1, ["upstream_failed"]]);
    expect(seen.sent).toContain('"receipt":"r"');
  }
  const other = begin(room, "other");
  other.events(eventOf("b".repeat(STEP)), eventOf("", "stop"));
  other.end();
  expect(other.seen.outcomes).toEqual(["complete"]);
  for (const { relay } of greedy) relay.body.cancel();
  expect(room.used()).toBe(0);
});

test("what is too much to keep to the letter is kept as put together", async () => {
  const room = createFairShares({ capacity: 4 * STEP, ratio: 1, guaranteed: STEP });
  const stream = begin(room, "p");
  for (let at = 0; at < 1000; at += 1) stream.events(eventOf("word "));
  stream.events(eventOf("", "stop"));
  stream.end();
  expect([stream.seen.outcomes, room.used()]).toEqual([["complete"], 0]);
  const kept = (await stream.relay.kept) ?? "";
  expect(kept).toContain("word ".repeat(1000));
  expect(kept.length).toBeLessThan(stream.seen.sent.length / 10);
});

test("an event of several lines is passed on with all of them, and the receipt is of what the caller can read", async () => {
  const room = createFairShares({ capacity: 4 * STEP, ratio: 1, guaranteed: STEP });
  const stream = begin(room, "p");
  const written = (content: string, finish: string | null) =>
    JSON.stringify(JSON.parse(eventOf(content, finish)), null, 2);
  stream.events(written("first", null), written(" word", null), written("", "stop"));
  stream.end();
  for (const text of [stream.seen.sent, await stream.relay.kept]) {
    const events = [...createEventParser().push(Buffer.from(text ?? ""))];
    expect(events.pop()).toBe("[DONE]");
    const read = createChoices();
    for (const event of events) read.add(JSON.parse(event).choices);
    expect(read.all()).toEqual(stream.seen.choices as never);
    expect(JSON.parse(events.at(-1) ?? "{}").receipt).toBe("r");
  }
});

test("the answer of a receipt is the same, whether its events were parsed or only compared", () => {
  const texts = [
    " word",
    "",
    "ü",
    "😀",
    "\u2028",
    '"',
    "\\",
    "\n",
    "\u0001",
    "\u007f",
    '","x":"',
    "]}",
    '"delta":{"content":"',
    "probe",
  ];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
  const room = createFairShares({ capacity: 100_000_000, ratio: 1, guaranteed: STEP });
  const shapes: readonly ((text: string, at: number) => object)[] = [
    (content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
    (content) => ({
      id: "c",
      choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
      usage: null,
    }),
    (content) => ({ choices: [{ index: 1, delta: { content } }] }),
    (content) => ({ choices: [{ index: 0, delta: { content, role: "assistant" } }] }),
    (content) => ({ choices: [{ index: 0, delta: { reasoning: content } }] }),
    (content) => ({ choices: [{ index: 0, delta: { content }, note: content }] }),
    (content) => ({ choices: [{ index: 0, other: { delta: { content: "x" } }, delta: { content } }] }),
    (content, at) => ({
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
      obfuscation: `${at}`,
    }),
    (content) => ({ choices: [0, 1].map((index) => ({ index, delta: { content } })) }),
    (content) => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: content } }] } }],
    }),
  ];
  for (let round = 0; round < 300; round += 1) {
    const stream = begin(room, "p");
    const expected = createChoices();
    let shape = pick(shapes);
    for (let at = 0; at < 40; at += 1) {
      if (Math.random() < 0.2) shape = pick(shapes);
      const data = JSON.stringify(shape(pick(texts), at));
      expected.add(JSON.parse(data).choices);
      stream.events(data);
    }
    stream.events(eventOf("", "stop"));
    expected.add(JSON.parse(eventOf("", "stop")).choices);
    stream.end();
    expect(stream.seen.choices).toEqual(expected.all());
  }
});
