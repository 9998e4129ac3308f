import { OutgoingError } from "./failure.ts";
import { isFieldName, isFieldValue } from "./response-head.ts";
import type { Target } from "./target.ts";

/** One request, without the headers Host, Content-Length and Connection, which are added. */
export type OutgoingRequest = {
  /** In upper case; GET unless given. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Overrides the client's limit of the body. */
  readonly bodyBytesMax?: number;
  /** Truncates a longer body instead of failing, where the whole is read. */
  readonly truncateBody?: boolean;
};

/** A request that can be sent to any target. */
export type WrittenRequest = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
};

export type RequestDefaults = { readonly acceptGzip?: boolean; readonly userAgent?: string };

const USER_AGENT = "assay";
const METHODS_REFUSED: readonly string[] = ["CONNECT", "TRACE"];
const WITH_LENGTH: readonly string[] = ["POST", "PUT", "PATCH"];
/** Headers that route and frame a message. */
const OWN_FIELDS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding)$/;
const CREDENTIALS = /^(authorization|cookie)$/;

/** Validates a request. Throws OutgoingError (`bad_request`). */
export function readRequest(request: OutgoingRequest, defaults: RequestDefaults): WrittenRequest {
  const { method = "GET", body } = request;
  if (!isFieldName(method) || METHODS_REFUSED.includes(method)) {
    throw new OutgoingError("bad_request", "the method cannot be sent");
  }
  const headers: Record<string, string> = {
    "user-agent": defaults.userAgent ?? USER_AGENT,
    accept: "*/*",
    "accept-encoding": defaults.acceptGzip === true ? "gzip" : "identity",
    connection: "close",
  };
  for (const [given, value] of Object.entries(request.headers ?? {})) {
    const name = given.toLowerCase();
    if (!isFieldName(name) || !isFieldValue(value) || OWN_FIELDS.test(name)) {
      throw new OutgoingError("bad_request", "a header field cannot be sent");
    }
    headers[name] = value;
  }
  return { method, headers, body: body === undefined ? null : Buffer.from(body) };
}

/** Returns the octets of a request to a target. */
export function writeRequest({ method, headers, body }: WrittenRequest, { url }: Target): Uint8Array {
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== null || WITH_LENGTH.includes(method)) lines.push(`content-length: ${body?.length ?? 0}`);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body === null ? head : Buffer.concat([head, body]);
}

/** Returns the request that follows a redirect (RFC 9110, 15.4). Credentials are sent to the same origin only. */
export function afterRedirect(
  request: WrittenRequest,
  status: number,
  isSameOrigin: boolean,
): WrittenRequest {
  const { method } = request;
  const isRead = method === "GET" || method === "HEAD";
  const becomesGet = (status === 303 && !isRead) || (status <= 302 && method === "POST");
  const kept = Object.entries(request.headers).filter(([name]) => {
    return (isSameOrigin || !CREDENTIALS.test(name)) && !(becomesGet && name.startsWith("content-"));
  });
  const headers = Object.fromEntries(kept);
  return becomesGet ? { method: "GET", headers, body: null } : { ...request, headers };
}
