/** What a handler answers; the boundary adds the headers that every reply of the call carries. */
export type Reply = {
  readonly status: number;
  readonly body: string | Uint8Array | Blob | ReadableStream<Uint8Array> | null;
  readonly headers?: { readonly [name: string]: string };
  /** It leaves as it is: its handler has looked at `Accept-Encoding`. */
  readonly isNegotiated?: true;
  /** Its length is not announced: see `inOnePiece`. */
  readonly isWithoutLength?: true;
};

export const JSON_TYPE = "application/json; charset=utf-8";
export const NDJSON_TYPE = "application/x-ndjson; charset=utf-8";

/** A JSON reply from a value. */
export function json(value: unknown, status = 200): Reply {
  return jsonText(JSON.stringify(value), status);
}

/** A JSON reply from text that is JSON already. */
export function jsonText(text: string, status = 200): Reply {
  return { status, body: text };
}
