import type { ByteSource, SourceSink } from "../payments/paid-call.ts";
import { isObject } from "../platform/json-value.ts";
import { createPatience } from "../platform/patience.ts";
import type { JsonObject, JsonValue } from "./choices.ts";
import { DONE, eventText, KEEP_ALIVE } from "./event-stream.ts";
import { withMembers } from "./json-members.ts";
import type { OpenStream, StreamEnd } from "./open-stream.ts";
import type { ReceiptEnding } from "./receipt-ledger.ts";
import { createRelayedAnswer } from "./relayed-answer.ts";
import { isError, jsonOf } from "./upstream-json.ts";

/** A stream that is relayed to the caller. */
export type Relay = {
  readonly body: ByteSource;
  /**
   * Resolves with the sent text, and the unsent end where the caller left. A long answer is condensed into few events; of
   * one too long to be kept, only the end. Null where nothing was sent, or its end could not be written.
   */
  readonly kept: Promise<string | null>;
};

export type RelayOptions = {
  /** Whether the caller wants the usage at the end. */
  readonly includesUsage: boolean;
  /** The silence after which a comment is sent. */
  readonly keepAliveMs: number;
  /** Bytes of the assembled answer; a longer one is broken off. */
  readonly answerBytesMax: number;
  /** The memory for the answer until its end; where it is used up, the answer is broken off. */
  readonly room: AnswerRoom;
  /** Called once, at the end of the answer. Returns the fields of the last event, in JSON: the receipt. */
  readonly onEnd: (ending: ReceiptEnding) => { readonly [name: string]: string };
};

/** Memory that running answers share, in bytes. */
export type AnswerRoom = {
  /** Acquires bytes; false, and nothing acquired, where too few are left. */
  readonly take: (bytes: number) => boolean;
  readonly release: (bytes: number) => void;
};

/** Bytes acquired at a time, so that most events need none. */
const ROOM_STEP = 32_768;
/** Characters of the sent text that are kept verbatim. */
const KEPT_TEXT_MAX = 16_384;
/** A longer answer is not kept (bytes as counted by `Choices.size`): encrypting and storing it would block others. */
const KEPT_ANSWER_MAX = 1_048_576;

/**
 * Relays the events of an upstream verbatim, as they arrive. The last one carries the receipt, so an event that may be the
 * last is held back until the next. When the caller leaves, the upstream is cancelled at once.
 */
export function relayStream(stream: OpenStream, options: RelayOptions): Relay {
  const { promise: kept, resolve: keep } = Promise.withResolvers<string | null>();
  const answer = createRelayedAnswer();
  /** Null once it exceeds the limit. */
  let sent: string[] | null = [];
  let sentLength = 0;
  let held: string | null = null;
  let room = 0;
  let hasEnded = false;
  let sink: SourceSink | null = null;
  const patience = createPatience(options.keepAliveMs, () => {
    sink?.write(KEEP_ALIVE);
    patience.begin();
  });

  /** Returns the text to send for an event: the one held back before, and the event itself unless it is held back. */
  function textOf(data: string, chunk: JsonValue | undefined): string {
    if (isObject(chunk)) {
      answer.add(data, chunk);
      // A usage chunk that the caller does not want is dropped; the event held back may still be the last.
      if (!options.includesUsage && isUsageAlone(chunk)) return "";
    }
    const before = held === null ? "" : eventText(held);
    held = isObject(chunk) && mayBeLast(chunk) ? data : null;
    return held === null ? before + eventText(data) : before;
  }

  /** Issues the receipt, and returns the end of the stream. */
  function lastText(outcome: ReceiptEnding["outcome"]): string {
    close();
    const fields = options.onEnd(answer.ending(outcome));
    if (outcome === "upstream_failed") {
      return (held === null ? "" : eventText(held)) + eventText(withMembers(BROKEN_OFF, fields));
    }
    const last = held ?? JSON.stringify(answer.emptyChunk());
    return eventText(withMembers(last, fields)) + eventText(DONE);
  }

  function close(): void {
    hasEnded = true;
    patience.close();
    options.room.release(room);
    room = 0;
  }

  function breakOff(): string {
    stream.cancel();
    return lastText("upstream_failed");
  }

  function textOfAll(events: readonly string[]): string {
    let text = "";
    for (const data of events) {
      if (held === null && answer.addPlain(data)) text += eventText(data);
      else {
        const chunk = jsonOf(data);
        if (isObject(chunk) && isError(chunk)) return text + breakOff();
        text += textOf(data, chunk);
      }
      if (answer.size() > options.answerBytesMax || !hasRoom()) return text + breakOff();
    }
    return text;
  }

  /** Acquires the memory that is needed by now. If there is none, the verbatim text is dropped first. */
  function hasRoom(): boolean {
    while (answer.size() + (sent === null ? 0 : sentLength) > room) {
      if (options.room.take(ROOM_STEP)) room += ROOM_STEP;
      else if (sent === null) return false;
      else sent = null;
    }
    return true;
  }

  function note(text: string): void {
    sentLength += text.length;
    if (sentLength > KEPT_TEXT_MAX) sent = null;
    sent?.push(text);
  }

  function keepAll(last: string): void {
    if (sent !== null) keep(sent.join("") + last);
    else keep((answer.size() > KEPT_ANSWER_MAX ? "" : answer.inFewEvents()) + last);
    sent = null;
  }

  function send(text: string): void {
    if (text !== "") {
      if (hasEnded) keepAll(text);
      else note(text);
      sink?.write(text);
    }
    if (hasEnded) sink?.end();
    else patience.begin();
  }

  function end({ isComplete, reason }: StreamEnd): void {
    if (reason === LEFT) cancel();
    else send(lastText(isComplete ? "complete" : "upstream_failed"));
  }

  function cancel(): void {
    if (hasEnded) return;
    stream.cancel();
    try {
      const last = lastText("caller_left");
      // Who left before anything was sent has paid all the same: the payment still buys an answer.
      if (sink !== null) keepAll(last);
    } finally {
      // Of no effect where the answer is kept.
      keep(null);
    }
  }

  /** Catches errors, which would otherwise reach the connection. */
  function guarded<T>(step: (value: T) => void): (value: T) => void {
    return (value) => {
      if (hasEnded) return;
      try {
        step(value);
      } catch (error) {
        close();
        stream.cancel();
        keep(null);
        sink?.fail(error);
      }
    };
  }

  const body: ByteSource = {
    flow(to) {
      sink = to;
      stream.follow({ events: guarded((events) => send(textOfAll(events))), end: guarded(end) });
    },
    pause() {
      patience.end();
      stream.pause();
    },
    resume() {
      if (hasEnded) return;
      patience.begin();
      stream.resume();
    },
    cancel,
  };
  return { body, kept };
}

/** The end of a stream whose caller has left. */
const LEFT = "aborted";

const BROKEN_OFF = JSON.stringify({
  error: {
    code: "upstream_failed",
    message: "The upstream broke off. The receipt says what came.",
    type: "api_error",
    param: null,
  },
});

/** Whether a chunk may be the last: it has the usage, or ends every choice. */
function mayBeLast({ choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return false;
  return choices.every((choice: JsonValue) => isObject(choice) && typeof choice.finish_reason === "string");
}

function isUsageAlone({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && isObject(usage);
}
