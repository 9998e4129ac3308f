import { isObject, type JsonObject, parseJson } from "../platform/json-value.ts";

const VALUES_MAX = 65_536;
const DEPTH_MAX = 512;

/** The purpose of a request. */
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

/** One request of a scan, and its outcome. */
export type Exchange = {
  readonly role: ExchangeRole;
  readonly method: string;
  readonly url: string;
  /** The URL after redirects; absent without any. */
  readonly redirectedTo?: string;
  /** Null without a reply. */
  readonly status: number | null;
  /** From the start of the connection to the head of the reply. */
  readonly ms: number | null;
  /** Why there is no reply. */
  readonly failure: string | null;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The beginning of the body; empty for an unpaid 2xx of a paid resource. */
  readonly body: string;
};

export type DnsEvidence = {
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
  readonly failure: string | null;
};

export type TlsEvidence = {
  /** The chain leads to a trusted root, and the certificate covers the name. */
  readonly isValid: boolean;
  readonly error: string | null;
  readonly protocol: string | null;
  /** Milliseconds since the epoch. */
  readonly validTo: number | null;
};

/** A paid resource, and its listed price. */
export type Resource = {
  readonly method: string;
  readonly url: string;
  readonly source: "caller" | "openapi" | "well_known" | "directory";
  /** Micro-USD; null where it is not listed. */
  readonly listedMicroUsd: number | null;
  /** The payees in the directory or the last scan. */
  readonly knownPayees: readonly string[];
};

/** The result of probing. Checks are functions of this alone. */
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

/** Parsed bodies: many checks read the same one, which may be long to slow them down. */
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
 * Parses a text of the target as a JSON object; else null, also for more than 65,536 values or a nesting deeper than 512,
 * which would block the event loop.
 */
export function parseFields(text: string): JsonObject | null {
  const value = parseJson(text, VALUES_MAX, DEPTH_MAX);
  return isObject(value) ? value : null;
}

/** Returns a value of the target as text, without calling `toString` of objects. */
export function written(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
