import { isObject, type JsonObject, parseJson } from "../platform/json-value.ts";

const VALUES_MAX = 65_536;
const DEPTH_MAX = 512;

/** Why a request was made. */
export type ExchangeRole =
  | "root"
  | "robots"
  | "llms"
  | "openapi"
  | "well_known"
  | "agent_card"
  | "api_catalog"
  | "security"
  | "health"
  | "unknown_path"
  | "plain_http"
  /** A paid resource by its declared method, by HEAD, and by an empty POST. */
  | "resource"
  | "resource_head"
  | "resource_post";

/** One request of a scan and what came of it. */
export type Exchange = {
  readonly role: ExchangeRole;
  readonly method: string;
  readonly url: string;
  /** Where redirects led; absent where there were none. */
  readonly redirectedTo?: string;
  /** Null where no reply came. */
  readonly status: number | null;
  /** Until the head of the reply had come, the connection included. */
  readonly ms: number | null;
  /** Why no reply came. */
  readonly failure: string | null;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The beginning of the body; empty for a 2xx of a paid resource, which nobody has paid for. */
  readonly body: string;
};

export type DnsEvidence = {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  readonly failure: string | null;
};

export type TlsEvidence = {
  /** The chain leads to a trusted root and the name is the certificate's. */
  readonly isValid: boolean;
  readonly error: string | null;
  readonly protocol: string | null;
  /** Milliseconds since the epoch. */
  readonly validTo: number | null;
};

/** A paid resource that was found, and what it was said to cost. */
export type Resource = {
  readonly method: string;
  readonly url: string;
  readonly source: "caller" | "openapi" | "well_known" | "directory";
  /** Micro-USD; null where nothing says it. */
  readonly listedMicroUsd: number | null;
  /** The payee that the directory or the last scan knows. */
  readonly knownPayees: readonly string[];
};

/** Everything that a scan saw: its checks are functions of this and of nothing else. */
export type Evidence = {
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly scannedAt: number;
  readonly dns: DnsEvidence;
  /** Null where the origin is plain http or was not reached. */
  readonly tls: TlsEvidence | null;
  readonly resources: readonly Resource[];
  readonly exchanges: readonly Exchange[];
};

/** Returns the first exchange of a role, or null. */
export function exchangeOf(evidence: Evidence, role: ExchangeRole): Exchange | null {
  return evidence.exchanges.find((exchange) => exchange.role === role) ?? null;
}

export function exchangesOf(evidence: Evidence, role: ExchangeRole): readonly Exchange[] {
  return evidence.exchanges.filter((exchange) => exchange.role === role);
}

/** Many checks read the same body, which may be long and nested for the sake of it. */
const parsed = new WeakMap<Exchange, JsonObject | null>();

/** Returns the body as a JSON object, or null. */
export function jsonOf(exchange: Exchange | null): JsonObject | null {
  if (exchange === null) return null;
  const known = parsed.get(exchange);
  if (known !== undefined) return known;
  const fields = /^\s*\{/.test(exchange.body) ? parseFields(exchange.body) : null;
  parsed.set(exchange, fields);
  return fields;
}

/**
 * Returns the object that a text of the target is in JSON, or null; also null where it holds more than 65,536 values, or is
 * nested deeper than 512: to parse that would hold up others.
 */
export function parseFields(text: string): JsonObject | null {
  const value = parseJson(text, VALUES_MAX, DEPTH_MAX);
  return isObject(value) ? value : null;
}

/** Returns a value that a service chose, as text: objects are not asked what they would be as text, for they may lie. */
export function written(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
