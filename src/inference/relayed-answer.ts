import { isObject } from "../platform/json-value.ts";
import { createChoices, type JsonObject, type JsonValue } from "./choices.ts";
import { eventText } from "./event-stream.ts";
import { createPlainDeltas } from "./plain-deltas.ts";
import type { ReceiptEnding } from "./receipt-ledger.ts";

/** Gathers what the receipt says of the answer. */
export function createRelayedAnswer() {
  const choices = createChoices();
  const deltas = createPlainDeltas();
  let usage: JsonObject | null = null;
  let first: JsonObject = {};
  return {
    /** Takes an event that adds to a text and does nothing else; false where it has to be parsed. */
    addPlain(data: string): boolean {
      const plain = deltas.read(data);
      return plain !== null && choices.addText(plain.index, plain.text);
    },
    add(data: string, chunk: JsonObject): void {
      deltas.learn(data, chunk);
      if (first.id === undefined) first = chunk;
      if (Array.isArray(chunk.choices)) choices.add(chunk.choices as readonly JsonValue[]);
      if (isObject(chunk.usage)) usage = chunk.usage;
    },
    size: choices.size,
    /** The same answer as put together: one chunk for each choice. */
    inFewEvents: () => {
      const chunks = choices.all().map(({ message, ...rest }) => ({
        ...emptyChunk(),
        choices: [{ ...rest, delta: withPositions(message) }],
      }));
      return chunks.map((chunk) => eventText(JSON.stringify(chunk))).join("");
    },
    ending: (outcome: ReceiptEnding["outcome"]): ReceiptEnding => ({
      outcome,
      model_served: typeof first.model === "string" ? first.model : null,
      usage,
      choices: choices.all(),
    }),
    emptyChunk,
  };

  /** A chunk that adds nothing, for an end that nothing was held back for. */
  function emptyChunk() {
    const { id = "", created = 0, model = "" } = first;
    return { id, object: "chat.completion.chunk", created, model, choices: [] };
  }
}

/** In deltas tool calls have an index. */
function withPositions(message: JsonValue | undefined): JsonValue {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return message ?? {};
  const calls = message.tool_calls.map((call: JsonValue, index: number) =>
    isObject(call) ? { index, ...call } : call,
  );
  return { ...message, tool_calls: calls };
}
