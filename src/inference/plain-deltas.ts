import { isObject } from "../platform/json-value.ts";
import type { JsonObject } from "./choices.ts";

/** Reads the text out of events that differ from the one before in their text alone, without parsing them. */
export type PlainDeltas = {
  /** Returns the index of the choice and the text that an event adds to it, and nothing else; null where it has to be parsed. */
  readonly read: (data: string) => { readonly index: number; readonly text: string } | null;
  /** Takes an event that was parsed as the one that the next are like. */
  readonly learn: (data: string, chunk: JsonObject) => void;
};

const BEFORE_TEXT = '"delta":{"content":"';
/** A text with one of these is written in another way than it reads. */
const ESCAPED = /["\\\p{Cc}]/u;
const PROBE = "probe";
/** Events parsed in a row that no other was like: such a stream differs in more than its text, and is no longer compared. */
const VAIN_LESSONS_MAX = 8;
const CHOICE_FIELDS: ReadonlySet<string> = new Set(["index", "delta", "finish_reason", "logprobs"]);

/** Most events of a stream are the same but for a word: what else stands in them is taken in with the first of them. */
export function createPlainDeltas(): PlainDeltas {
  let like: { readonly start: string; readonly end: string; readonly index: number } | null = null;
  let vainLessons = 0;
  const isLike = (data: string) =>
    like !== null &&
    data.length >= like.start.length + like.end.length &&
    data.startsWith(like.start) &&
    data.endsWith(like.end);
  return {
    read(data) {
      if (like === null || !isLike(data)) return null;
      vainLessons = 0;
      const text = data.slice(like.start.length, data.length - like.end.length);
      return ESCAPED.test(text) ? null : { index: like.index, text };
    },
    learn(data, chunk) {
      if (vainLessons === VAIN_LESSONS_MAX || isLike(data)) return;
      vainLessons += 1;
      like = null;
      const index = plainIndexOf(chunk);
      const at = data.indexOf(BEFORE_TEXT);
      if (index === null || at === -1 || data.includes(BEFORE_TEXT, at + 1)) return;
      const textAt = at + BEFORE_TEXT.length;
      const [start, end] = [data.slice(0, textAt), data.slice(endOfString(data, textAt - 1) - 1)];
      // The place may be that of another field which looks the same.
      const probed: unknown = JSON.parse(start + PROBE + end);
      if (isObject(probed) && contentOf(probed) === PROBE) like = { start, end, index };
    },
  };
}

/** Returns the index of the one choice of a chunk that holds a piece of text and nothing else to be put together. */
function plainIndexOf({ choices, usage = null, error = null }: JsonObject): number | null {
  if (!Array.isArray(choices) || choices.length !== 1 || usage !== null || error !== null) return null;
  const choice: unknown = choices[0];
  if (!isObject(choice) || !isObject(choice.delta)) return null;
  const { index, delta, finish_reason: finish = null, logprobs = null } = choice;
  const isPlain = Object.keys(delta).length === 1 && typeof delta.content === "string";
  const hasMore =
    finish !== null || logprobs !== null || !Object.keys(choice).every((name) => CHOICE_FIELDS.has(name));
  return isPlain && !hasMore && typeof index === "number" ? index : null;
}

function contentOf({ choices }: { readonly choices?: unknown }): unknown {
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  return isObject(choice) && isObject(choice.delta) ? choice.delta.content : null;
}

/** Returns the end of the string that starts here, in valid JSON. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); ; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
}
