import type { ErrorCode } from "../contract/errors.ts";
import { DOCUMENT_TYPES, isDocumentType, PHONE_COUNTRY_DEMAND } from "../contract/words.ts";
import { encodingOf } from "../platform/charset.ts";
import { isObject, type JsonObject, parseJson, TOO_MANY_VALUES } from "../platform/json-value.ts";
import { beforeFirstLine, toNextLine } from "./body-lines.ts";
import { textOf } from "./body-text.ts";
import { type Item, type Items, listedItems } from "./items.ts";
import type { BatchKind, BatchOptions, BodyForm, LinesForm } from "./messages.ts";
import { documentsWithin } from "./plain-documents.ts";
import { readPlainLines } from "./plain-lines.ts";
import { readPlainList } from "./plain-list.ts";

export type ItemsOutcome =
  | { readonly ok: true; readonly items: Items; readonly options: BatchOptions }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/**
 * How one kind of batch names its items, and what else its JSON body may say. The schemas of the contract say the same,
 * and a test holds these to them: threads start without the library of schemas.
 */
type Shape = {
  readonly list: string;
  /** Whether each item is a text, and nothing else. */
  readonly isText: boolean;
  /** The item, or what is wrong with it: words to follow its place in the body. */
  readonly item: (value: unknown, form: BodyForm) => Item | Problem;
  readonly flags: readonly ("deep" | "dns")[];
  readonly texts: readonly "country"[];
};

/** Values beside the items that a JSON body may hold, and those of an item. */
const BODY_VALUES_MAX = 500_000;
const VALUES_PER_ITEM = 8;
/** A longer option says nothing more: what goes on of it is still refused for what it is. */
const OPTION_UNITS_MAX = 64;

class Problem {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

const SHAPES: { readonly [kind in BatchKind]: Shape } = {
  email: { list: "emails", isText: true, item: textItem("email"), flags: ["deep", "dns"], texts: [] },
  phone: { list: "phones", isText: true, item: textItem("phone"), flags: [], texts: ["country"] },
  identity: { list: "items", isText: false, item: documentItem, flags: [], texts: [] },
};

/**
 * Reads the items of a batch body. JSON: the object of the contract. NDJSON: on each line what the JSON list
 * would hold, or an object with the item's own field. Text: one item per line. Blank lines are passed over. Lines are read
 * in their charset, as those of jobs are.
 */
export function readItems(
  kind: BatchKind,
  form: BodyForm,
  body: Uint8Array,
  itemsMax: number,
  charset: string | null = null,
): ItemsOutcome {
  const shape = SHAPES[kind];
  const encoding = form === "json" ? null : encodingOf(charset, body);
  const text = textOf(body, encoding);
  if (text === null) return refuse("invalid_request", `The body must be ${encoding ?? "UTF-8"}.`);
  if (form !== "json") return readLines(shape, form, text, itemsMax);
  return readPlainJson(kind, shape, text, itemsMax) ?? readJson(shape, text, itemsMax);
}

function readPlainJson(kind: BatchKind, shape: Shape, text: string, itemsMax: number): ItemsOutcome | null {
  const written = text.includes("\\") ? withLetters(text) : text;
  const plain = readPlainList(
    written,
    shape.list,
    itemsMax,
    kind === "identity" ? documentsWithin : undefined,
  );
  if (plain === null) return null;
  const options = readOptions(shape, plain.object);
  if (options instanceof Problem) return refuse("invalid_request", options.message);
  return { ok: true, items: plain.items, options };
}

/** Escapes of characters that are not ASCII, in a row: they mean nothing but themselves wherever they stand. */
const ESCAPED_LETTERS = /(?:\\u(?!00[0-7])[0-9a-fA-F]{4})+/g;

/** The same JSON with its letters as themselves; other escapes stay, and so does a backslash that was escaped itself. */
function withLetters(json: string): string {
  return json.replace(ESCAPED_LETTERS, (escapes) => JSON.parse(`"${escapes}"`));
}

function readJson(shape: Shape, text: string, itemsMax: number): ItemsOutcome {
  const body = parseJson(text, BODY_VALUES_MAX + itemsMax * VALUES_PER_ITEM);
  if (body === TOO_MANY_VALUES) return tooLarge(shape, "more", itemsMax);
  if (body === undefined) return refuse("invalid_json", "The body is not valid JSON.");
  if (!isObject(body)) return refuse("invalid_request", "The body must be a JSON object.");
  const list = body[shape.list];
  if (list === undefined) return refuse("invalid_request", `${shape.list} is required.`);
  if (!Array.isArray(list)) return refuse("invalid_request", `${shape.list} must be an array.`);
  if (list.length > itemsMax) return tooLarge(shape, list.length, itemsMax);
  const items: Item[] = [];
  for (const value of list) {
    const item = shape.item(value, "json");
    if (item instanceof Problem) {
      return refuse("invalid_request", `${shape.list}[${items.length}]${item.message}`);
    }
    items.push(item);
  }
  const options = readOptions(shape, body);
  if (options instanceof Problem) return refuse("invalid_request", options.message);
  return { ok: true, items: listedItems(items), options };
}

function readLines(shape: Shape, form: LinesForm, text: string, itemsMax: number): ItemsOutcome {
  const plain = shape.isText ? readPlainLines(form, text, itemsMax) : null;
  if (plain !== null) return { ok: true, items: plain, options: {} };
  const items: Item[] = [];
  const line = beforeFirstLine();
  while (toNextLine(text, line)) {
    const written = text.slice(line.start, line.end);
    const value = form === "text" ? written : parseJson(written);
    if (value === TOO_MANY_VALUES)
      return refuse("invalid_json", `Line ${line.number} holds too many values.`);
    if (value === undefined) return refuse("invalid_json", `Line ${line.number} is not valid JSON.`);
    const item = shape.item(value, form);
    if (item instanceof Problem) return refuse("invalid_request", `line ${line.number}${item.message}`);
    if (items.length === itemsMax) return tooLarge(shape, "more", itemsMax);
    items.push(item);
  }
  return { ok: true, items: listedItems(items), options: {} };
}

function readOptions(shape: Shape, body: JsonObject): BatchOptions | Problem {
  const options: { deep?: boolean; dns?: boolean; country?: string } = {};
  for (const flag of shape.flags) {
    const value = body[flag];
    if (value === undefined || value === null) continue;
    if (typeof value !== "boolean") return new Problem(`${flag} must be true or false.`);
    options[flag] = value;
  }
  for (const name of shape.texts) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") return new Problem(`${name} ${PHONE_COUNTRY_DEMAND}.`);
    options[name] = value.slice(0, OPTION_UNITS_MAX);
  }
  return options;
}

function textItem(field: string): Shape["item"] {
  return (value, form) => {
    if (typeof value === "string") return value;
    if (form === "ndjson" && isObject(value) && typeof value[field] === "string") return value[field];
    return new Problem(" must be a string.");
  };
}

function documentItem(value: unknown, form: BodyForm): Item | Problem {
  if (form !== "json" && typeof value === "string") return [null, value];
  if (!isObject(value)) return new Problem(" must be an object with value.");
  const { type = null, value: number } = value;
  if (number === undefined) return new Problem(".value is required.");
  if (type !== null && (typeof type !== "string" || !isDocumentType(type))) {
    return new Problem(`.type must be one of ${DOCUMENT_TYPES.join(", ")}.`);
  }
  return typeof number === "string" ? [type, number] : new Problem(".value must be a string.");
}

function refuse(code: ErrorCode, message: string): ItemsOutcome {
  return { ok: false, code, message };
}

function tooLarge(shape: Shape, count: number | "more", itemsMax: number): ItemsOutcome {
  const found = count === "more" ? "more" : `${count}`;
  return refuse(
    "batch_too_large",
    `${shape.list} has ${found} items; a batch of your plan takes ${itemsMax} at most.`,
  );
}
