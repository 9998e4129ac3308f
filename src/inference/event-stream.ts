/** The reply of an upstream cannot be passed on. */
export class EventStreamError extends Error {
  override readonly name = "EventStreamError";
}

/** Characters of one event, with all of its lines. */
const EVENT_CHARACTERS_MAX = 4_194_304;

/** Finds the events of a `text/event-stream`; comments and other fields are passed over (HTML, 9.2.6). */
export type EventParser = {
  /**
   * Takes the next part and returns the data of the events that are whole with it. Throws EventStreamError for an event
   * of more than 4 MB. Linear in the bytes.
   */
  readonly push: (part: Uint8Array) => readonly string[];
  /** Returns whether the parts end with a `[DONE]` that has no empty line behind it, as some upstreams leave it out. */
  readonly endsWithDone: () => boolean;
};

export function createEventParser(): EventParser {
  const decoder = new TextDecoder();
  /** Pieces of a line that is not whole yet. */
  let pieces: string[] = [];
  let data: string[] = [];
  let held = 0;
  let endedWithReturn = false;

  function takeLine(line: string, events: string[]): void {
    if (line === "") {
      if (data.length > 0) events.push(data.length === 1 ? (data[0] ?? "") : data.join("\n"));
      data = [];
      held = 0;
    } else if (line.startsWith("data:")) data.push(dataOf(line));
  }

  return {
    push(part) {
      const text = decoder.decode(part, { stream: true });
      if (text === "") return [];
      if (
        isOneEvent(text) &&
        data.length === 0 &&
        !endedWithReturn &&
        (pieces[0] ?? "") === "" &&
        pieces.length < 2
      ) {
        return [text.slice(6, -2)];
      }
      const events: string[] = [];
      held += text.length;
      const hasReturn = text.includes("\r");
      if (held > EVENT_CHARACTERS_MAX && !hasReturn && !text.includes("\n")) throw tooLong();
      // A line may end with both, and the second may come later.
      const start = endedWithReturn && text.startsWith("\n") ? 1 : 0;
      endedWithReturn = hasReturn && text.endsWith("\r");
      const lines = text.slice(start).split(hasReturn ? /\r\n|\n|\r/ : "\n");
      const [first = "", ...others] = lines;
      pieces.push(first);
      for (const next of others) {
        const line = pieces.length === 1 ? (pieces[0] ?? "") : pieces.join("");
        pieces = [next];
        held = Math.max(held, line.length);
        takeLine(line, events);
      }
      if (held > EVENT_CHARACTERS_MAX) throw tooLong();
      return events;
    },
    endsWithDone() {
      const line = pieces.join("");
      const isData = line.startsWith("data:");
      return isData ? data.length === 0 && dataOf(line) === DONE : data.length === 1 && data[0] === DONE;
    },
  };
}

/** Returns the value of a line with data. */
function dataOf(line: string): string {
  return line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5);
}

/** Whether a part is just one event of one line, as most are. */
function isOneEvent(text: string): boolean {
  const isWhole = text.startsWith("data: ") && text.indexOf("\n") === text.length - 2 && text.endsWith("\n");
  return isWhole && !text.includes("\r") && text.length <= EVENT_CHARACTERS_MAX;
}

function tooLong(): EventStreamError {
  return new EventStreamError(`an event is longer than ${EVENT_CHARACTERS_MAX} characters`);
}

/** Returns an event with this data, as it goes on the wire: each of its lines is a field. */
export function eventText(data: string): string {
  return `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}

/** Keeps a connection open while there is nothing to say. */
export const KEEP_ALIVE = ": keep-alive\n\n";
/** The data of the last event. */
export const DONE = "[DONE]";
