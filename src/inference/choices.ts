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
  /** Returns them in the shape that the same answer has in one piece. */
  readonly all: () => readonly JsonObject[];
};

/**
 * Puts choices together from the deltas of a stream: texts are joined, lists of entries with an `index` are merged by
 * it and lose it, other lists are joined, and all else is set. So a caller who kept the deltas comes to the same value.
 */
export function createChoices(): Choices {
  const byIndex = new Map<number, Mutable>();
  return {
    add(choices) {
      for (const choice of choices) {
        if (!isObject(choice) || typeof choice.index !== "number") continue;
        const { index, delta, ...rest } = choice;
        const known = byIndex.get(index) ?? { index, message: {} };
        byIndex.set(index, known);
        if (isObject(delta)) merge(known.message as Mutable, delta);
        merge(known, rest);
      }
    },
    all: () => [...byIndex.values()].sort((a, b) => Number(a.index) - Number(b.index)).map(withoutPositions),
  };
}

/** True where a chunk has something of the answer itself: text, a call of a tool, or its end. */
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

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What was added before belongs to the answer alone, so it is changed where it stands. */
function merge(known: Mutable, added: JsonObject): void {
  for (const [name, value] of Object.entries(added)) {
    // The prototype of an object is no field of it.
    if (name === "__proto__") continue;
    known[name] = merged(known[name], value, name);
  }
}

function merged(known: JsonValue | undefined, added: JsonValue, name: string): JsonValue {
  if (added === null) return known ?? null;
  if (Array.isArray(added)) return mergedList(Array.isArray(known) ? known : [], added);
  if (known === undefined || known === null) return added;
  if (typeof known === "string" && typeof added === "string") {
    return WHOLE_TEXTS.has(name) ? added : known + added;
  }
  if (!isObject(known) || !isObject(added)) return added;
  merge(known as Mutable, added);
  return known;
}

function mergedList(known: JsonValue[], added: readonly JsonValue[]): JsonValue[] {
  for (const entry of added) {
    const position = isObject(entry) && typeof entry.index === "number" ? entry.index : null;
    const before =
      position === null ? undefined : known.find((one) => isObject(one) && one.index === position);
    if (isObject(entry) && isObject(before)) merge(before as Mutable, entry);
    else known.push(entry);
  }
  return known;
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
