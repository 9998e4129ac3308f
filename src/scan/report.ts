import type { CheckStatus } from "./check.ts";
import type { Evidence, Exchange } from "./evidence.ts";
import { type CheckedRule, RULES_VERSION, type Scored } from "./score.ts";

/** One check in a report. */
export type CheckView = {
  readonly id: string;
  readonly title: string;
  readonly status: CheckStatus;
  readonly weight: number;
  readonly evidence: {
    readonly url: string | null;
    readonly method: string | null;
    readonly status: number | null;
    readonly ms: number | null;
    readonly headers: { readonly [name: string]: string };
    readonly observed: string;
    readonly expected: string;
  };
  readonly fix: string;
  /** A shell command that repeats the measurement. */
  readonly repeat: string;
};

/** A scan on the wire, without the fields of a stored report. */
export type ScanView = {
  readonly origin: string;
  readonly grade: Scored["grade"];
  readonly score: number;
  readonly confidence: Scored["confidence"];
  readonly checks: readonly CheckView[];
  readonly caps: Scored["caps"];
  readonly scanned_at: string;
  readonly rules_version: string;
};

const HEADERS_SHOWN_MAX = 20;
const VALUE_SHOWN_LENGTH_MAX = 200;

/** Returns a scan on the wire. */
export function scanView(evidence: Evidence, { checks, score, grade, caps, confidence }: Scored): ScanView {
  return {
    origin: evidence.origin,
    grade,
    score,
    confidence,
    checks: checks.map((checked) => checkView(checked, evidence)),
    caps,
    scanned_at: new Date(evidence.scannedAt).toISOString(),
    rules_version: RULES_VERSION,
  };
}

function checkView({ check, finding }: CheckedRule, { origin }: Evidence): CheckView {
  const { id, title, weight, expected, fix } = check;
  const { at, status, observed } = finding;
  return {
    id,
    title,
    status,
    weight,
    evidence: {
      url: at?.url ?? null,
      method: at?.method ?? null,
      status: at?.status ?? null,
      ms: at?.ms ?? null,
      headers: shownHeaders(at),
      observed: shown(observed),
      expected,
    },
    fix,
    repeat: repeatOf(id, at, origin),
  };
}

function shownHeaders(at: Exchange | null): { readonly [name: string]: string } {
  const entries = Object.entries(at?.headers ?? {}).slice(0, HEADERS_SHOWN_MAX);
  return Object.fromEntries(entries.map(([name, value]) => [name, shown(value)]));
}

/** Control characters of terminals, and of bidirectional text. */
const MOVES_TEXT = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Sanitises and truncates a text of the target, without lone surrogates, which cannot be signed. */
function shown(text: string): string {
  return text.replace(MOVES_TEXT, "?").slice(0, VALUE_SHOWN_LENGTH_MAX).toWellFormed();
}

function repeatOf(id: string, at: Exchange | null, origin: string): string {
  const { hostname, port } = new URL(origin);
  const host = quoted(hostname);
  if (id === "reach.dns") return `dig +short A ${host}; dig +short AAAA ${host}`;
  if (id === "reach.tls") {
    const address = quoted(`${hostname}:${port || "443"}`);
    return `openssl s_client -connect ${address} -servername ${host} </dev/null | openssl x509 -noout -dates -subject`;
  }
  const url = quoted(at?.redirectedTo ?? at?.url ?? `${origin}/`);
  if (id === "reach.latency") return `curl -s -o /dev/null -w '%{time_starttransfer}\\n' ${url}`;
  const method = at?.method ?? "GET";
  if (method === "HEAD") return `curl -sI ${url}`;
  return `curl -si${method === "GET" ? "" : ` -X ${method}`} -H 'Origin: https://example.com' ${url}`;
}

/** Quotes a text of the target for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
