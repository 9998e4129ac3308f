import { createChoices, isObject, type JsonObject, type JsonValue } from "./choices.ts";
import { DONE, eventText, KEEP_ALIVE } from "./event-stream.ts";
import { withMembers } from "./json-members.ts";
import type { ReceiptEnding } from "./receipt-ledger.ts";
import { jsonOf, type OpenStream, type StreamEnd } from "./upstream.ts";

/** A stream on its way to the caller. */
export type Relay = {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves with all that was sent, and what would have been sent of the end where the caller left. */
  readonly kept: Promise<string>;
};

export type RelayOptions = {
  /** The caller asked for the usage at the end. */
  readonly includesUsage: boolean;
  /** After so long without an event a comment is sent. */
  readonly keepAliveMs: number;
  /** Called once, at the end of the answer. Returns the fields of the last event, in JSON: the receipt. */
  readonly onEnd: (ending: ReceiptEnding) => { readonly [name: string]: string };
};

type Next = IteratorResult<string, StreamEnd>;

/**
 * Passes the events of an upstream on as they come, to the letter. The receipt comes in the last one: an event that may
 * be the last is therefore held back until the next. The caller's leaving stops the upstream at once.
 */
export function relayStream(stream: OpenStream, options: RelayOptions): Relay {
  const { promise: kept, resolve: keep } = Promise.withResolvers<string>();
  const encoder = new TextEncoder();
  const answer = createAnswer();
  const sent: string[] = [];
  let held: string | null = null;
  let next: Promise<Next> | null = null;
  let hasEnded = false;

  /** Returns what goes out for an event: the one held back before it, and itself or nothing yet. */
  function textOf(data: string, chunk: JsonValue | undefined): string {
    if (isObject(chunk)) {
      answer.add(chunk);
      // The caller did not ask for it, and what is held back may still be the last.
      if (!options.includesUsage && isUsageAlone(chunk)) return "";
    }
    const before = held === null ? "" : eventText(held);
    held = isObject(chunk) && mayBeLast(chunk) ? data : null;
    return held === null ? before + eventText(data) : before;
  }

  function lastText(isComplete: boolean): string {
    hasEnded = true;
    const fields = options.onEnd(answer.ending(isComplete ? "complete" : "upstream_failed"));
    if (isComplete) {
      const last = held ?? JSON.stringify(answer.emptyChunk());
      return eventText(withMembers(last, fields)) + eventText(DONE);
    }
    return (held === null ? "" : eventText(held)) + eventText(withMembers(BROKEN_OFF, fields));
  }

  async function nextText(): Promise<string> {
    next ??= stream.events.next();
    const event = await orSilence(next, options.keepAliveMs);
    if (hasEnded) return "";
    if (event === null) return KEEP_ALIVE;
    next = null;
    if (event.done === true) return lastText(event.value.isComplete);
    const chunk = jsonOf(event.value);
    if (!isObject(chunk) || !isObject(chunk.error)) return textOf(event.value, chunk);
    stream.cancel();
    return lastText(false);
  }

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let text = "";
        while (text === "" && !hasEnded) text = await nextText();
        // The caller left meanwhile.
        if (text === "") return;
        if (text !== KEEP_ALIVE) sent.push(text);
        controller.enqueue(encoder.encode(text));
        if (!hasEnded) return;
        controller.close();
        keep(sent.join(""));
      },
      cancel() {
        if (hasEnded) return;
        hasEnded = true;
        stream.cancel();
        const fields = options.onEnd(answer.ending("caller_left"));
        const last = withMembers(held ?? JSON.stringify(answer.emptyChunk()), fields);
        keep(sent.join("") + eventText(last) + eventText(DONE));
      },
    },
    { highWaterMark: 0 },
  );
  return { body, kept };
}

const BROKEN_OFF = JSON.stringify({
  error: {
    code: "upstream_failed",
    message: "The upstream broke off. The receipt says what came.",
    type: "api_error",
    param: null,
  },
});

/** Gathers what the receipt says of the answer. */
function createAnswer() {
  const choices = createChoices();
  let usage: JsonObject | null = null;
  let first: JsonObject = {};
  return {
    add(chunk: JsonObject): void {
      if (first.id === undefined) first = chunk;
      if (Array.isArray(chunk.choices)) choices.add(chunk.choices as readonly JsonValue[]);
      if (isObject(chunk.usage)) usage = chunk.usage;
    },
    ending: (outcome: ReceiptEnding["outcome"]): ReceiptEnding => ({
      outcome,
      model_served: typeof first.model === "string" ? first.model : null,
      usage,
      choices: choices.all(),
    }),
    /** A chunk that adds nothing, for an end that nothing was held back for. */
    emptyChunk: () => {
      const { id = "", created = 0, model = "" } = first;
      return { id, object: "chat.completion.chunk", created, model, choices: [] };
    },
  };
}

/** Waits for an event; null where none comes for so long. */
async function orSilence(next: Promise<Next>, ms: number): Promise<Next | null> {
  const silence = Promise.withResolvers<null>();
  const timer = setTimeout(() => silence.resolve(null), ms);
  try {
    return await Promise.race([next, silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The usage, or the end of every choice in the chunk: what an answer ends with. */
function mayBeLast({ choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return false;
  return choices.every((choice: JsonValue) => isObject(choice) && typeof choice.finish_reason === "string");
}

function isUsageAlone({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && isObject(usage);
}
