/** The reply of an upstream is none that can be passed on. */
export class EventStreamError extends Error {
  override readonly name = "EventStreamError";
}

/** Characters of one event, with all of its lines. */
const EVENT_CHARACTERS_MAX = 4_194_304;

/**
 * Yields the data of each event of a `text/event-stream` as soon as it is there; comments and other fields are passed
 * over (HTML, 9.2.6). Throws EventStreamError for an event of more than 4 MB. Linear in the bytes.
 */
export async function* readEvents(parts: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  const parser = createEventParser();
  for await (const part of parts) yield* parser.push(decoder.decode(part, { stream: true }));
  yield* parser.push(decoder.decode());
}

function createEventParser() {
  /** Pieces of a line that is not whole yet. */
  let pieces: string[] = [];
  let data: string[] = [];
  let held = 0;
  let endedWithReturn = false;

  function* line(text: string): Generator<string, void, undefined> {
    if (text === "") {
      if (data.length > 0) yield data.join("\n");
      data = [];
      held = 0;
    } else if (text.startsWith("data:")) data.push(text.slice(text.charCodeAt(5) === 0x20 ? 6 : 5));
  }

  return {
    *push(text: string): Generator<string, void, undefined> {
      held += text.length;
      if (held > EVENT_CHARACTERS_MAX && !/[\r\n]/.test(text)) throw tooLong();
      // A line may end with both, and the second may come later.
      const start = endedWithReturn && text.startsWith("\n") ? 1 : 0;
      if (text !== "") endedWithReturn = text.endsWith("\r");
      const lines = text.slice(start).split(/\r\n|\n|\r/);
      const [first = "", ...others] = lines;
      pieces.push(first);
      for (const next of others) {
        const whole = pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("");
        pieces = [next];
        held = Math.max(held, whole.length);
        yield* line(whole);
      }
      if (held > EVENT_CHARACTERS_MAX) throw tooLong();
    },
  };
}

function tooLong(): EventStreamError {
  return new EventStreamError(`an event is longer than ${EVENT_CHARACTERS_MAX} characters`);
}

/** Returns an event with this data, as it goes on the wire. */
export function eventText(data: string): string {
  return `data: ${data}\n\n`;
}

/** Keeps a connection open while there is nothing to say. */
export const KEEP_ALIVE = ": keep-alive\n\n";
/** The data of the last event. */
export const DONE = "[DONE]";
