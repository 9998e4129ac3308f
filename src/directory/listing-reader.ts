import { isObject, type JsonObject } from "../platform/json-value.ts";
import { type Evidence, FUTURE_TOLERANCE_MS, isHost, type Listing, type Resource } from "./listing.ts";
import { payeeKey } from "./payee.ts";

export type ListingRead =
  | { readonly ok: true; readonly listing: Listing }
  | { readonly ok: false; readonly host: string | null; readonly reason: string };

const SERVICE_NAME_LENGTH_MAX = 200;
const DESCRIPTION_LENGTH_MAX = 8000;
const LISTED_RESOURCES_MAX = 1000;
const URL_LENGTH_MAX = 2048;
/** Control characters but tab and line ends, bidirectional overrides and isolates. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Carries the reason of the first fault out of the nested readers. Never leaves this file. */
class Fault extends Error {
  override readonly name = "Fault";
}

/**
 * Parses a record of an upstream, with the fields of the contract alone. `now` in ms UTC bounds the timestamps, with
 * five minutes for clock skew.
 *
 * @example readListing({ host: "Example.com" }, 0) // { ok: false, host: null, reason: "bad_host" }
 */
export function readListing(record: unknown, now: number): ListingRead {
  let host: string | null = null;
  try {
    const fields = object(record, "not_an_object");
    host = readHost(fields.host);
    return { ok: true, listing: listing(fields, host, now) };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, host, reason: error.message };
    throw error;
  }
}

function listing(fields: JsonObject, host: string, now: number): Listing {
  const resources = readResources(fields.resources, host);
  const endpoints = count(fields, "endpoints");
  if (endpoints !== resources.length) throw new Fault("endpoints_mismatch");
  return {
    host,
    service_name: readServiceName(fields.service_name),
    description: readText(fields.description, DESCRIPTION_LENGTH_MAX, "bad_description"),
    endpoints,
    score: readScore(fields.score, "bad_score"),
    evidence: readEvidence(object(fields.evidence, "bad_evidence"), now),
    resources,
    judged_by: readJudgedBy(fields.judged_by, resources),
  };
}

function readEvidence(fields: JsonObject, now: number): Evidence {
  const payTo = fields.pay_to;
  if (typeof payTo !== "string" || payeeKey(payTo) === null) throw new Fault("bad_pay_to");
  const changedAt = fields.pay_to_changed_at;
  return {
    pay_to: payTo,
    uptime_30d: orNull(fields.uptime_30d, (value) => numberWithin(value, 0, 1, "bad_uptime_30d")),
    probes_30d: count(fields, "probes_30d"),
    median_latency_ms: orNull(fields.median_latency_ms, (value) =>
      numberWithin(value, 0, Number.MAX_SAFE_INTEGER, "bad_median_latency_ms"),
    ),
    payers_30d: count(fields, "payers_30d"),
    settlements_30d: count(fields, "settlements_30d"),
    last_paid: orNull(fields.last_paid, (value) => timestamp(value, now, "last_paid")),
    pay_to_changed_at:
      changedAt === undefined
        ? undefined
        : orNull(changedAt, (value) => timestamp(value, now, "pay_to_changed_at")),
    price_usd: readPrice(fields.price_usd),
  };
}

function readHost(value: unknown): string {
  if (typeof value !== "string" || !isHost(value)) throw new Fault("bad_host");
  return value;
}

function readServiceName(value: unknown): string | null {
  return orNull(value, (text) => readText(text, SERVICE_NAME_LENGTH_MAX, "bad_service_name"));
}

function readText(value: unknown, lengthMax: number, reason: string): string {
  if (typeof value !== "string" || value.length > lengthMax) throw new Fault(reason);
  if (HIDDEN.test(value) || !value.isWellFormed()) throw new Fault("control_characters");
  return value;
}

function readResources(value: unknown, host: string): Resource[] {
  if (!Array.isArray(value) || value.length > LISTED_RESOURCES_MAX) throw new Fault("bad_resources");
  return value.map((entry: unknown) => {
    const fields = object(entry, "bad_resources");
    return {
      url: readResourceUrl(fields.url, host),
      score: readScore(fields.score, "bad_resource_score"),
      price_usd: readPrice(fields.price_usd),
    };
  });
}

function readResourceUrl(value: unknown, host: string): string {
  const url = readUrl(value, "bad_resource_url");
  if (url.protocol !== "https:") throw new Fault("bad_resource_url");
  if (url.hostname !== host && !url.hostname.endsWith(`.${host}`)) throw new Fault("resource_on_other_host");
  return String(value);
}

/** Reads `{judge_url}/v1/check?resource=…`, with one of the listing's own resources. */
function readJudgedBy(value: unknown, resources: readonly Resource[]): string {
  const url = readUrl(value, "bad_judged_by");
  if (!/^https?:$/.test(url.protocol) || !url.pathname.endsWith("/v1/check"))
    throw new Fault("bad_judged_by");
  const judged = url.searchParams.get("resource");
  if (!resources.some((resource) => resource.url === judged)) throw new Fault("judged_by_other_resource");
  return String(value);
}

/** Reads a URL. User info is refused, as it disguises the host or reveals a password. */
function readUrl(value: unknown, reason: string): URL {
  // Checked first, as URL silently drops tabs and line ends.
  if (typeof value !== "string" || value.length > URL_LENGTH_MAX || !/^[\x21-\x7e]+$/.test(value)) {
    throw new Fault(reason);
  }
  const url = URL.parse(value);
  if (url === null || url.username !== "" || url.password !== "") throw new Fault(reason);
  return url;
}

function readPrice(value: unknown): string | null {
  return orNull(value, (text) => {
    if (typeof text !== "string" || !/^(0|[1-9]\d{0,8})\.\d{6}$/.test(text)) throw new Fault("bad_price_usd");
    return text;
  });
}

function readScore(value: unknown, reason: string): number {
  return numberWithin(value, 0, 100, reason);
}

function timestamp(value: unknown, now: number, field: string): string {
  const shape = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|\+00:00)$/;
  const [, seconds] = (typeof value === "string" ? shape.exec(value) : null) ?? [];
  const at = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`);
  // Some parsers roll over a day that the month does not have: the time must be formatted back the same.
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(seconds ?? ""))
    throw new Fault(`bad_${field}`);
  if (at > now + FUTURE_TOLERANCE_MS) throw new Fault(`${field}_in_future`);
  return String(value);
}

function count(fields: JsonObject, field: string): number {
  const value = numberWithin(fields[field], 0, Number.MAX_SAFE_INTEGER, `bad_${field}`);
  if (!Number.isInteger(value)) throw new Fault(`bad_${field}`);
  return value;
}

function numberWithin(value: unknown, min: number, max: number, reason: string): number {
  if (typeof value !== "number" || !(value >= min && value <= max)) throw new Fault(reason);
  return value;
}

function orNull<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === null || value === undefined ? null : read(value);
}

function object(value: unknown, reason: string): JsonObject {
  if (!isObject(value)) throw new Fault(reason);
  return value;
}
