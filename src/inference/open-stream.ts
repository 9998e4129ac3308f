import type { OpenReply } from "../net/reply.ts";
import { isObject } from "../platform/json-value.ts";
import { hasToken } from "./choices.ts";
import { createEventParser, DONE, EventStreamError } from "./event-stream.ts";
import { isError, jsonOf } from "./upstream-json.ts";

/** A stream whose first token has arrived. It is paused until it has a reader. */
export type OpenStream = {
  /** Emits the events up to the first token, then those that follow; called once. */
  readonly follow: (follower: StreamFollower) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly cancel: () => void;
};

export type StreamFollower = {
  /** Called with the data of the events that arrived together, without the `[DONE]`. */
  readonly events: (events: readonly string[]) => void;
  /** Called once, unless the stream was cancelled. */
  readonly end: (end: StreamEnd) => void;
};

/** How a stream ended: with `[DONE]`, or with a failure. */
export type StreamEnd = { readonly isComplete: boolean; readonly reason: string | null };

/** The most events without content before the first token. */
const EVENTS_BEFORE_TOKEN_MAX = 10_000;
const NO_TOKEN = "the stream has no token";

/** Reads a stream up to its first token. Returns the stream, or its failure. */
export function readStream(reply: OpenReply): Promise<OpenStream | string> {
  const { promise, resolve } = Promise.withResolvers<OpenStream | string>();
  const parser = createEventParser();
  let waiting: string[] = [];
  let follower: StreamFollower | null = null;
  let end: StreamEnd | null = null;
  let isOpen = false;

  function finish(ended: StreamEnd): void {
    if (end !== null) return;
    end = ended;
    reply.cancel();
    resolve(ended.reason ?? NO_TOKEN);
    follower?.end(ended);
  }

  /** Searches for the first token. */
  function look(data: string): void {
    const chunk = jsonOf(data);
    if (!isObject(chunk) || isError(chunk)) {
      finish({ isComplete: false, reason: "the stream begins with an error" });
      return;
    }
    isOpen = Array.isArray(chunk.choices) && hasToken(chunk.choices);
    const { pause, resume } = flow;
    if (isOpen) resolve({ follow, pause, resume, cancel });
    else if (waiting.length > EVENTS_BEFORE_TOKEN_MAX) finish({ isComplete: false, reason: NO_TOKEN });
  }

  function take(events: readonly string[]): void {
    const at = events.indexOf(DONE);
    const emitted = at === -1 ? events : events.slice(0, at);
    if (follower !== null && emitted.length > 0) follower.events(emitted);
    else {
      for (const data of emitted) {
        waiting.push(data);
        if (!isOpen && end === null) look(data);
      }
    }
    if (at !== -1) finishWhole();
  }

  /** At the `[DONE]`. */
  function finishWhole(): void {
    finish(isOpen ? { isComplete: true, reason: null } : { isComplete: false, reason: NO_TOKEN });
  }

  function follow(by: StreamFollower): void {
    follower = by;
    const known = waiting;
    waiting = [];
    by.events(known);
    if (end !== null) by.end(end);
    else flow.resume();
  }

  function cancel(): void {
    end ??= { isComplete: false, reason: null };
    waiting = [];
    reply.cancel();
  }

  const flow = reply.flow({
    part(bytes) {
      if (end !== null) return;
      try {
        take(parser.push(bytes));
      } catch (error) {
        if (!(error instanceof EventStreamError)) throw error;
        finish({ isComplete: false, reason: error.message });
      }
      if (isOpen && follower === null) flow.pause();
    },
    end(error) {
      if (parser.endsWithDone()) finishWhole();
      else
        finish({ isComplete: false, reason: error?.reason ?? (isOpen ? "ended without [DONE]" : NO_TOKEN) });
    },
  });
  if (/^text\/event-stream\b/i.test(reply.headers.get("content-type") ?? "")) flow.resume();
  else finish({ isComplete: false, reason: "the answer is no stream" });
  return promise;
}
