import { DOCUMENT_TYPES, type DocumentType } from "../contract/words.ts";
import { ITEM_UNITS_MAX, type Items, shortened } from "./items.ts";
import { endOfText } from "./plain-list.ts";

/** A document as it is written in a chunk: its type, or null to find it out, and its value. */
export type DocumentItem = readonly [type: DocumentType | null, value: string];

/** Documents within JSON, and the place behind the last of them. */
type DocumentsWithin = {
  readonly items: Items;
  readonly documentAt: (position: number) => DocumentItem;
  readonly end: number;
};

/** Where the type of a document starts in JSON, where its value does, and where that ends. */
type DocumentsView = {
  readonly types: readonly DocumentType[];
  readonly typeStarts: readonly number[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
};

const typesByName: ReadonlyMap<string, DocumentType> = new Map(DOCUMENT_TYPES.map((type) => [type, type]));

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
  const view = {
    types: [] as DocumentType[],
    typeStarts: [] as number[],
    starts: [] as number[],
    ends: [] as number[],
  };
  for (let typeStart = start + opening.length; ; ) {
    const typeEnd = endOfText(json, typeStart);
    const type = typeEnd === -1 ? undefined : typesByName.get(json.slice(typeStart, typeEnd));
    if (type === undefined || !json.startsWith(middle, typeEnd)) return null;
    const valueStart = typeEnd + middle.length;
    const valueEnd = endOfText(json, valueStart);
    if (valueEnd === -1 || view.types.length === itemsMax) return null;
    view.types.push(type);
    view.typeStarts.push(typeStart);
    view.starts.push(valueStart);
    view.ends.push(valueEnd);
    if (json.startsWith(between, valueEnd)) {
      typeStart = valueEnd + between.length;
      continue;
    }
    if (!json.startsWith(closing, valueEnd)) return null;
    return { ...viewed(json, view, opening, closing), end: valueEnd + closing.length };
  }
}

function viewed(
  json: string,
  { types, typeStarts, starts, ends }: DocumentsView,
  opening: string,
  closing: string,
): Omit<DocumentsWithin, "end"> {
  const start = (position: number) => starts[position] ?? 0;
  const end = (position: number) => ends[position] ?? 0;
  const typeStart = (position: number) => typeStarts[position] ?? 0;
  const documentAt = (position: number): DocumentItem => [
    types[position] ?? null,
    json.slice(start(position), end(position)),
  ];
  const items: Items = {
    count: types.length,
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
