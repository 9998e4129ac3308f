import { WAYS_MAX, waysIn } from "../payments/ways-to-pay.ts";
import { isObject, type JsonObject } from "../platform/json-value.ts";
import { type Evidence, type Exchange, exchangesOf, jsonOf, parseFields } from "./evidence.ts";

/** The challenge of a 402, from its header and its body. */
export type SeenChallenge = {
  readonly exchange: Exchange;
  /** Null without the header. */
  readonly header: JsonObject | "undecodable" | null;
  /** Null where the body is not a challenge of version 1. */
  readonly body: JsonObject | null;
  /** The entries of `accepts`: of the header, or of the body where the header is unreadable. */
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

/** Returns the challenges whose content is checked: one for each resource. */
export function challengePerResource(evidence: Evidence): readonly SeenChallenge[] {
  const seen = new Set<string>();
  return challengesOf(evidence).filter(({ exchange: { url } }) => !seen.has(url) && seen.add(url) !== null);
}

/** Parsed challenges: many checks read the same one, which may be long to slow them down. */
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
  const accepts = stated === null ? [] : waysIn(stated).slice(0, WAYS_MAX);
  return { exchange, header, body, accepts, version: versionOf(header, body) };
}

function versionOf(header: SeenChallenge["header"], body: JsonObject | null): 1 | 2 | null {
  if (isObject(header) && header.x402Version === 2) return 2;
  return body?.x402Version === 1 ? 1 : null;
}

function decode(text: string): JsonObject | "undecodable" {
  return parseFields(Buffer.from(text, "base64").toString("utf8")) ?? "undecodable";
}

/** Parses an exchange for the checks, and caches that. */
export function readAhead(exchange: Exchange): void {
  if (exchange.status === 402) challengeOf(exchange);
  else jsonOf(exchange);
}

/** Returns the amount of an entry, in the field that clients of the version read, or in the other without it. */
export function amountOf(entry: JsonObject, version: SeenChallenge["version"]): unknown {
  const { amount, maxAmountRequired } = entry;
  return version === 1 ? (maxAmountRequired ?? amount) : (amount ?? maxAmountRequired);
}

/** Returns the resource that an entry names, of either version. */
export function resourceUrlOf(challenge: SeenChallenge): unknown {
  const resource = isObject(challenge.header) ? challenge.header.resource : undefined;
  return isObject(resource) ? resource.url : challenge.accepts[0]?.resource;
}
