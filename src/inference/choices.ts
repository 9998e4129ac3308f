import { isObject } from "../platform/json-value.ts";

/** Any JSON value of an upstream's answer. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [name: string]: JsonValue };

type Mutable = { [name: string]: JsonValue };

/** Names whose text comes whole, and not in pieces. */
const WHOLE_TEXTS: ReadonlySet<string> = new Set(["role", "id", "type", "name", "finish_reason"]);

/** The choices of a streamed answer, as far as they have come. */
export type Choices = {
  /** Takes the `choices` of one chunk. */
  readonly add: (choices: readonly JsonValue[]) => void;
  /** Adds a piece to the text of a choice that has come already; false where it has no text yet. */
  readonly addText: (index: number, text: string) => boolean;
  /** Characters of the texts that have come, and something for each other value: about the bytes that they take. */
  readonly size: () => number;
  /** Returns them in the shape that the same answer has in one piece. */
  readonly all: () => readonly JsonObject[];
};

/**
 * Puts choices together from the deltas of a stream: texts are joined, lists of entries with an `index` are merged by
 * it and lose it, other lists are joined, and all else is set. So a caller who kept the deltas has the same value.
 */
export function createChoices(): Choices {
  const byIndex = new Map<number, Mutable>();
  let size = 0;

  function choiceOf(index: number): Mutable {
    const known = byIndex.get(index);
    if (known !== undefined) return known;
    const created: Mutable = { index, message: {} };
    byIndex.set(index, created);
    size += VALUE_SIZE;
    return created;
  }

  return {
    add(choices) {
      for (const choice of choices) {
        if (!isObject(choice) || typeof choice.index !== "number") continue;
        const { delta } = choice;
        const known = choiceOf(choice.index);
        if (isObject(delta)) size += merge(known.message as Mutable, delta);
        size += merge(known, choice, isOfChunk);
      }
    },
    addText(index, text) {
      const message = byIndex.get(index)?.message as Mutable | undefined;
      const before = message?.content;
      if (message === undefined || typeof before !== "string") return false;
      message.content = before + text;
      size += text.length;
      return true;
    },
    size: () => size,
    all: () => [...byIndex.values()].sort((a, b) => Number(a.index) - Number(b.index)).map(withoutPositions),
  };
}

/** Returns whether a chunk has something of the answer itself: text, a call of a tool, or its end. */
export function hasToken(choices: readonly JsonValue[]): boolean {
  return choices.some((choice) => {
    if (!isObject(choice)) return false;
    if (typeof choice.finish_reason === "string") return true;
    const { delta } = choice;
    if (!isObject(delta)) return false;
    return Object.entries(delta).some(([name, value]) => {
      if (name === "role" || value === null || value === undefined) return false;
      return typeof value === "string" ? value !== "" : !Array.isArray(value) || value.length > 0;
    });
  });
}

/** Entries of a list that are searched for an index; no answer has as many calls. */
const MERGED_ENTRIES_MAX = 512;
/** What a value takes beside its text. */
const VALUE_SIZE = 64;

const isNowhere = () => false;
const isOfChunk = (name: string) => name === "index" || name === "delta";

/** Returns by how much it has grown. What was added before belongs to the answer alone, so it is changed where it stands. */
function merge(known: Mutable, added: JsonObject, isLeftOut: (name: string) => boolean = isNowhere): number {
  let size = 0;
  for (const name in added) {
    // The prototype of an object is no field of it.
    if (name === "__proto__" || isLeftOut(name)) continue;
    const value = added[name] ?? null;
    const before = known[name];
    if (value === null) {
      if (before === undefined) {
        known[name] = null;
        size += VALUE_SIZE;
      }
    } else if (typeof value === "string" && typeof before === "string") {
      if (WHOLE_TEXTS.has(name)) known[name] = value;
      else {
        known[name] = before + value;
        size += value.length;
      }
    } else if (Array.isArray(value)) {
      const list = Array.isArray(before) ? before : [];
      known[name] = list;
      size += VALUE_SIZE + mergeList(list, value);
    } else if (isObject(before) && isObject(value)) size += merge(before as Mutable, value);
    else {
      known[name] = value;
      size += sizeOf(value);
    }
  }
  return size;
}

function mergeList(known: JsonValue[], added: readonly JsonValue[]): number {
  let size = 0;
  for (const entry of added) {
    const position = isObject(entry) && typeof entry.index === "number" ? entry.index : null;
    const isSought = position !== null && known.length <= MERGED_ENTRIES_MAX;
    const before = isSought ? known.find((one) => isObject(one) && one.index === position) : undefined;
    if (isObject(entry) && isObject(before)) size += merge(before as Mutable, entry);
    else {
      known.push(entry);
      size += sizeOf(entry);
    }
  }
  return size;
}

function sizeOf(value: JsonValue): number {
  if (typeof value === "string") return VALUE_SIZE + value.length;
  if (typeof value !== "object" || value === null) return VALUE_SIZE;
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), VALUE_SIZE);
}

/** Tool calls have an index in deltas alone. */
function withoutPositions(choice: Mutable): JsonObject {
  const { message } = choice;
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return choice;
  const calls = message.tool_calls.map((call: JsonValue) => {
    if (!isObject(call)) return call;
    const { index: _, ...rest } = call;
    return rest;
  });
  return { ...choice, message: { ...message, tool_calls: calls } };
}
