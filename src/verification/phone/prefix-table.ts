/** Returns the value of the longest prefix of a number's digits. */
export type PrefixTable = (digits: string) => string | undefined;

const ZERO = 48;
/** Entries from here on are values, those below are nodes; 0 is an empty entry. */
const VALUES_FROM = 0x8000;

/**
 * Decodes lines of `value TAB prefix prefix …`; `#` begins a comment. A look-up walks a trie digit by digit. A node
 * takes 22 bytes; the longest prefixes are entries and need none.
 */
export function decodePrefixTable(text: string): PrefixTable {
  const values: string[] = [];
  const trie = createTrie();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [value = "", prefixes = ""] = line.split("\t");
    for (const prefix of prefixes.split(" ")) trie.add(prefix, VALUES_FROM + values.length);
    values.push(value);
  }
  const { next, own } = trie.packed();
  if (next.length > VALUES_FROM * 10 || values.length > VALUES_FROM) throw new Error("too many prefixes");
  return (digits) => {
    let found = 0;
    let node = 0;
    for (let at = 0; at < digits.length; at += 1) {
      const entry = next[node * 10 + digits.charCodeAt(at) - ZERO] ?? 0;
      if (entry === 0) break;
      if (entry >= VALUES_FROM) return values[entry - VALUES_FROM];
      node = entry;
      found = own[node] || found;
    }
    return found === 0 ? undefined : values[found - VALUES_FROM];
  };
}

/** Creates a trie of digits: a node has ten entries and a value of its own. Node 0 is the root. */
function createTrie() {
  const next: number[] = Array(10).fill(0);
  const own: number[] = [0];

  /** Returns the node of an entry; a value is replaced by a node that has it. */
  function nodeAt(slot: number): number {
    const entry = next[slot] ?? 0;
    if (entry !== 0 && entry < VALUES_FROM) return entry;
    next[slot] = own.push(entry) - 1;
    for (let digit = 0; digit < 10; digit += 1) next.push(0);
    return own.length - 1;
  }

  return {
    add(prefix: string, value: number): void {
      let node = 0;
      const last = prefix.length - 1;
      for (let at = 0; at < last; at += 1) node = nodeAt(node * 10 + prefix.charCodeAt(at) - ZERO);
      const slot = node * 10 + prefix.charCodeAt(last) - ZERO;
      const entry = next[slot] ?? 0;
      if (entry !== 0 && entry < VALUES_FROM) own[entry] = value;
      else next[slot] = value;
    },
    packed: () => ({ next: Uint16Array.from(next), own: Uint16Array.from(own) }),
  };
}
