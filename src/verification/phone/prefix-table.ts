/** Finds what stands at the longest prefix of a number's digits. */
export type PrefixTable = (digits: string) => string | undefined;

const ZERO = 48;
/** From here on an entry is a value, below it a node; 0 is neither. */
const VALUES_FROM = 0x8000;

/**
 * Decodes lines of `value TAB prefix prefix …`; `#` begins a comment. A look-up goes digit by digit through a tree, whose
 * nodes take 22 bytes: a prefix that no other goes on from takes none.
 */
export function decodePrefixTable(text: string): PrefixTable {
  const values: string[] = [];
  const tree = newTree();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [value = "", prefixes = ""] = line.split("\t");
    for (const prefix of prefixes.split(" ")) tree.add(prefix, VALUES_FROM + values.length);
    values.push(value);
  }
  const { next, own } = tree.packed();
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

/** A tree of digits: ten entries to a node, and the value at the node itself. Node 0 is its root. */
function newTree() {
  const next: number[] = Array(10).fill(0);
  const own: number[] = [0];

  /** The node that an entry leads to; what was a value becomes a node with it. */
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
