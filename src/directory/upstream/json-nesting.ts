const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BRACKET_OPEN, BRACKET_CLOSE, BRACE_OPEN, BRACE_CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Tracks the nesting of JSON, byte by byte: `depth` counts the brackets and braces that are open outside strings. */
export function createNesting() {
  let escaped = false;
  const nesting = {
    depth: 0,
    inString: false,
    step(byte: number): void {
      if (nesting.inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) nesting.inString = false;
      } else if (byte === QUOTE) nesting.inString = true;
      else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) nesting.depth += 1;
      else if (byte === BRACE_CLOSE || byte === BRACKET_CLOSE) nesting.depth -= 1;
    },
  };
  return nesting;
}

/** The keys by which an object with rows differs from one that is a row itself. */
export type ListKeys = {
  /** The names of an array of rows. */
  readonly lists: ReadonlySet<string>;
  /** Where this key comes first the object is a row; null where it never is one. */
  readonly row: string | null;
};

/** Finds where the array of rows opens, by the keys of the outermost object. */
export function createKeyReader({ lists, row }: ListKeys) {
  let text = "";
  let key = "";
  let isRow = false;
  return {
    /** Takes the nesting as it is before the byte. */
    opensList(byte: number, depth: number, inString: boolean): boolean {
      if (depth !== 1) return false;
      if (inString) {
        if (byte !== QUOTE && text.length < 32) text += String.fromCharCode(byte);
        return false;
      }
      if (byte === QUOTE) text = "";
      else if (byte === COLON) {
        key = text;
        isRow ||= key === row;
      } else if (byte === COMMA) key = "";
      return byte === BRACKET_OPEN && !isRow && lists.has(key);
    },
  };
}

/** Returns whether the bytes are one complete JSON value. */
export function isJson(row: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder().decode(row));
    return true;
  } catch {
    return false;
  }
}
