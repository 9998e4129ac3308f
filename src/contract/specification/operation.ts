import type { TObject, TProperties, TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../errors.ts";
import type { KEY_SCOPES } from "../words.ts";
import type { HeaderName } from "./headers.ts";
import type { Json } from "./openapi-schema.ts";

/** A call that the specification shows. Its reply is recorded in `data/reply-examples.json` from a real server. */
export type Sample = {
  readonly summary: string;
  readonly status?: number;
  readonly query?: { readonly [name: string]: string | number | boolean };
  readonly parameters?: { readonly [name: string]: string };
  readonly body?: Json;
  /** The body's media type; JSON unless it says otherwise. */
  readonly bodyType?: string;
  /** The media type asked for; JSON unless it says otherwise. */
  readonly accept?: string;
};

export type ReplyShape = {
  readonly description: string;
  readonly headers?: readonly HeaderName[];
  /** By media type; none for a reply without a body. */
  readonly content?: { readonly [mediaType: string]: TSchema };
};

/**
 * How a route is entered. `key`: with the key of an account. `public`: without, limited by client address. `open`:
 * without key or limit, and answered while the server drains.
 */
export type Access = "key" | "public" | "open";

/** What one call costs, in USD as decimal text; `dynamic` where the request decides. */
export type Price =
  | { readonly mode: "fixed"; readonly amountUsd: string }
  | { readonly mode: "dynamic"; readonly minUsd: string; readonly maxUsd: string };

/** One method of one path: all that its documentation says, and all that a route is registered with. */
export type Operation<Query extends TObject = TObject, Body extends TObject = TObject> = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** What varies is written `:name` and described in `parameters`: a text, unless a schema says otherwise. */
  readonly path: string;
  readonly parameters?: { readonly [name: string]: string | TSchema };
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Of a call that is paid by x402, with `access: "public"`. */
  readonly price?: Price;
  /** What a key must be good for, with `access: "key"`; `verify` unless it says otherwise. */
  readonly scopes?: readonly (typeof KEY_SCOPES)[number][];
  readonly query?: Query;
  readonly ifNoneMatch?: boolean;
  /** By media type. */
  readonly body?: { readonly "application/json": Body; readonly [mediaType: string]: TSchema };
  readonly bodyRequired?: boolean;
  /** The body is bytes of no type that the route reads: what they are. */
  readonly bytes?: string;
  /** A POST with a key takes an Idempotency-Key. */
  readonly idempotent?: boolean;
  readonly replies: { readonly [status: number]: ReplyShape };
  readonly refusals?: readonly ErrorCode[];
  readonly samples?: Samples;
};

export type Samples = { readonly [name: string]: Sample };

/** Returns the operation as it is, with the types of its query and its JSON body. */
export function operation<Query extends TObject = TObject, Body extends TObject = TObject>(
  facts: Operation<Query, Body>,
): Operation<Query, Body> {
  return facts;
}

/** Returns a reply with a JSON body. */
export function jsonReply(description: string, body: TSchema, headers?: readonly HeaderName[]): ReplyShape {
  return {
    description,
    content: { "application/json": body },
    ...(headers === undefined ? {} : { headers }),
  };
}

/** Of a call that reads the account or what it has. */
export const READS_ACCOUNT = { access: "key", scopes: ["read"] } as const;

/** Of a call that changes the account or what it has. */
export const CHANGES_ACCOUNT = { access: "key", scopes: ["account"] } as const;

/** Of one that may be repeated with its Idempotency-Key. */
export const CHANGES_ACCOUNT_ONCE = { ...CHANGES_ACCOUNT, idempotent: true } as const;

/** Returns a query or body schema with descriptions for readers, and a name. */
export function described<Properties extends TProperties>(
  schema: TObject<Properties>,
  descriptions: { readonly [name in keyof Properties]: string },
  name?: string,
): TObject<Properties> {
  const properties = Object.entries(schema.properties).map(([field, property]) => [
    field,
    { ...property, description: descriptions[field] },
  ]);
  return {
    ...schema,
    ...(name === undefined ? {} : { $id: name }),
    properties: Object.fromEntries(properties),
  };
}
