import { isObject, type JsonObject } from "../platform/json-value.ts";
import { type Evidence, type Exchange, exchangesOf, jsonOf, parseFields } from "./evidence.ts";

/** The challenge of a 402, as its header and its body have it. */
export type SeenChallenge = {
  readonly exchange: Exchange;
  /** Null where there is no header. */
  readonly header: JsonObject | "undecodable" | null;
  /** Null where the body is no challenge of version 1. */
  readonly body: JsonObject | null;
  /** The entries of `accepts`, of the header where it can be read. */
  readonly accepts: readonly JsonObject[];
  readonly version: 1 | 2 | null;
};

/** Returns the challenge of each 402, those of declared methods first. */
function challengesOf(evidence: Evidence): readonly SeenChallenge[] {
  const roles = ["resource", "resource_post"] as const;
  return roles
    .flatMap((role) => exchangesOf(evidence, role))
    .filter(({ status }) => status === 402)
    .map(challengeOf);
}

/** Returns the challenges that count for what they hold: one a resource. */
export function challengePerResource(evidence: Evidence): readonly SeenChallenge[] {
  const seen = new Set<string>();
  return challengesOf(evidence).filter(({ exchange: { url } }) => !seen.has(url) && seen.add(url) !== null);
}

/** Of one challenge, which may be long for the sake of it. */
const ACCEPTS_MAX = 50;

/** Many checks read the same challenge, which may be long for the sake of it. */
const read = new WeakMap<Exchange, SeenChallenge>();

/** Returns the challenge of a 402. */
export function challengeOf(exchange: Exchange): SeenChallenge {
  const known = read.get(exchange) ?? readChallenge(exchange);
  read.set(exchange, known);
  return known;
}

function readChallenge(exchange: Exchange): SeenChallenge {
  const text = exchange.headers["payment-required"];
  const header = text === undefined ? null : decode(text);
  const json = jsonOf(exchange);
  const body = json !== null && Array.isArray(json.accepts) ? json : null;
  const stated = isObject(header) ? header : body;
  const accepts = stated === null || !Array.isArray(stated.accepts) ? [] : stated.accepts.filter(isObject);
  return { exchange, header, body, accepts: accepts.slice(0, ACCEPTS_MAX), version: versionOf(header, body) };
}

function versionOf(header: SeenChallenge["header"], body: JsonObject | null): 1 | 2 | null {
  if (isObject(header) && header.x402Version === 2) return 2;
  return body?.x402Version === 1 ? 1 : null;
}

function decode(text: string): JsonObject | "undecodable" {
  return parseFields(Buffer.from(text, "base64").toString("utf8")) ?? "undecodable";
}

/** Reads what checks read of an exchange, and keeps it for them. */
export function readAhead(exchange: Exchange): void {
  if (exchange.status === 402) challengeOf(exchange);
  else jsonOf(exchange);
}

/** Returns the amount of an entry as it is written, in either version. */
export function amountOf(entry: JsonObject): unknown {
  return entry.amount ?? entry.maxAmountRequired;
}

/** Returns what an entry names as its resource, in either version. */
export function resourceUrlOf(challenge: SeenChallenge): unknown {
  const resource = isObject(challenge.header) ? challenge.header.resource : undefined;
  return isObject(resource) ? resource.url : challenge.accepts[0]?.resource;
}
