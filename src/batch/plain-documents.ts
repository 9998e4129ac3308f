import { DOCUMENT_TYPES, type DocumentType } from "../contract/words.ts";
import { ITEM_UNITS_MAX, type Items, shortened } from "./items.ts";
import { endOfText } from "./plain-text.ts";

/** A document as it is written in a chunk: its type, or null to find it out, and its value. */
export type DocumentItem = readonly [type: DocumentType | null, value: string];

/** Documents within JSON, and the place behind the last of them. */
type DocumentsWithin = {
  readonly items: Items;
  readonly documentAt: (position: number) => DocumentItem;
  readonly end: number;
};

/** Documents by their types, where these start in JSON, where their values do, and where those end. */
type DocumentsView = {
  count: number;
  /** As places in DOCUMENT_TYPES. */
  readonly types: Uint8Array;
  readonly typeStarts: Uint32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
};

/** Each with the quote behind it. */
const NAMES_OF_TYPES = DOCUMENT_TYPES.map((type) => ({ name: `${type}"`, first: type.charCodeAt(0) }));

const SPACES = "[ \\t\\n\\r]*";
const NAMED = (name: string) => `"${name}"${SPACES}:${SPACES}"`;
/** A document: what opens it, its type, what is in between, its value, what closes it, and a comma behind it. */
const DOCUMENT = new RegExp(
  `(\\{${SPACES}${NAMED("type")})[^"]*("${SPACES},${SPACES}${NAMED("value")})[^"]*("${SPACES}\\})(${SPACES},${SPACES})?`,
  "y",
);

/**
 * Reads objects of a type and a value, in this order, as machines write them: without an escape, and with the same
 * characters around all types and values. Nothing is copied out. Null where they are not so, or more than `itemsMax`.
 */
export function documentsWithin(json: string, start: number, itemsMax: number): DocumentsWithin | null {
  DOCUMENT.lastIndex = start;
  const [, opening = "", middle = "", closing = "", comma = ","] = DOCUMENT.exec(json) ?? [];
  if (opening === "") return null;
  const between = closing + comma + opening;
  const shortest = opening.length + middle.length + closing.length;
  const view = roomFor(Math.min(itemsMax, Math.floor((json.length - start) / shortest)));
  for (let typeStart = start + opening.length; ; ) {
    const type = typeWithin(json, typeStart);
    const typeEnd = typeStart + (DOCUMENT_TYPES[type]?.length ?? 0);
    if (type === -1 || !json.startsWith(middle, typeEnd)) return null;
    const valueStart = typeEnd + middle.length;
    const valueEnd = endOfText(json, valueStart);
    if (valueEnd === -1 || view.count === view.types.length) return null;
    view.types[view.count] = type;
    view.typeStarts[view.count] = typeStart;
    view.starts[view.count] = valueStart;
    view.ends[view.count] = valueEnd;
    view.count += 1;
    if (json.startsWith(between, valueEnd)) {
      typeStart = valueEnd + between.length;
      continue;
    }
    if (!json.startsWith(closing, valueEnd)) return null;
    return { ...viewed(json, view, opening, closing), end: valueEnd + closing.length };
  }
}

function roomFor(documentsMax: number): DocumentsView {
  return {
    count: 0,
    types: new Uint8Array(documentsMax),
    typeStarts: new Uint32Array(documentsMax),
    starts: new Uint32Array(documentsMax),
    ends: new Uint32Array(documentsMax),
  };
}

/** Returns the place in DOCUMENT_TYPES of the type that starts here, or -1. */
function typeWithin(json: string, start: number): number {
  const code = json.charCodeAt(start);
  return NAMES_OF_TYPES.findIndex(({ name, first }) => code === first && json.startsWith(name, start));
}

function viewed(
  json: string,
  { count, types, typeStarts, starts, ends }: DocumentsView,
  opening: string,
  closing: string,
): Omit<DocumentsWithin, "end"> {
  const start = (position: number) => starts[position] ?? 0;
  const end = (position: number) => ends[position] ?? 0;
  const typeStart = (position: number) => typeStarts[position] ?? 0;
  const documentAt = (position: number): DocumentItem => [
    DOCUMENT_TYPES[types[position] ?? -1] ?? null,
    json.slice(start(position), end(position)),
  ];
  const items: Items = {
    count,
    source: () => json,
    start,
    end,
    identity: (position) => json.slice(typeStart(position), end(position)),
    json(first, past) {
      let isLong = false;
      for (let at = first; at < past && !isLong; at++) isLong = end(at) - start(at) > ITEM_UNITS_MAX;
      if (!isLong)
        return `[${json.slice(typeStart(first) - opening.length, end(past - 1) + closing.length)}]`;
      const documents: DocumentItem[] = [];
      for (let at = first; at < past; at++) {
        const [type, value] = documentAt(at);
        documents.push([type, shortened(value)]);
      }
      return JSON.stringify(documents);
    },
  };
  return { items, documentAt };
}

/** Reads what an `Items.json` has written of `count` documents. */
export function readDocuments(json: string, count: number): (position: number) => DocumentItem {
  const within = json.includes("\\") ? null : documentsWithin(json, "[".length, count);
  if (within?.items.count === count && within.end === json.length - "]".length) return within.documentAt;
  const documents: readonly (DocumentItem | WrittenDocument)[] = JSON.parse(json);
  return (position) => {
    const document = documents[position] ?? NO_DOCUMENT;
    return "value" in document ? [document.type, document.value] : document;
  };
}

type WrittenDocument = { readonly type: DocumentType; readonly value: string };

const NO_DOCUMENT: DocumentItem = [null, ""];
