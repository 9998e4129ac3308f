import { type Static, Type } from "@sinclair/typebox";
import { SCAN_RESOURCES_MAX } from "../../scan-limits.ts";
import { described, jsonReply, operation } from "../operation.ts";
import { count, moment, nullable, text, textOrNull, word } from "../reply-schema.ts";

const SCAN_PRICE_USD = "0.05";

const Address = { minLength: 1, maxLength: 2048 };

const ScanBody = described(
  Type.Object({
    origin: Type.String(Address),
    resources: Type.Optional(Type.Array(Type.String(Address), { maxItems: SCAN_RESOURCES_MAX })),
  }),
  {
    origin: "The origin to scan, such as https://api.example.com. A host alone is taken for https.",
    resources: `Up to ${SCAN_RESOURCES_MAX} paid addresses of the origin's host, which the scan asks first.`,
  },
  "ScanRequest",
);

const OriginQuery = Type.Object({ origin: Type.String(Address) });
const ORIGIN = { origin: "The origin, such as https://api.example.com." };

export const GRADES = ["A", "B", "C", "D", "F"] as const;
const Grade = word(GRADES, "A from 90, B from 80, C from 70, D from 55; some failures cap it.");

const Check = Type.Object({
  id: text("Names the check.", "pay.402"),
  title: text("What it holds."),
  status: word(
    ["pass", "warn", "fail", "na", "blocked"],
    "`na`: it does not apply. `blocked`: a failed gate, or a target that refuses our calls, keeps us from looking.",
  ),
  weight: count("What it counts of 100."),
  evidence: Type.Object({
    url: textOrNull("The address that shows it."),
    method: textOrNull("How it was asked."),
    status: nullable(Type.Integer(), "What it answered."),
    ms: nullable(Type.Number(), "Until the head of the reply had come."),
    headers: Type.Record(Type.String(), Type.String(), { description: "Headers of the reply, shortened." }),
    observed: text("What was seen."),
    expected: text("What a pass takes."),
  }),
  fix: text("How to get there."),
  repeat: text("A shell command that repeats the measurement."),
});

export const Scan = Type.Object(
  {
    report_id: text("Names the report."),
    report_url: text("The report, for programs and for readers."),
    origin: text("What was scanned."),
    grade: Grade,
    score: Type.Integer({ minimum: 0, maximum: 100 }),
    confidence: word(["normal", "low"], "`low` where the target refused our calls."),
    checks: Type.Array(Check, { description: "All 25." }),
    caps: Type.Array(
      Type.Object({ check: text("What failed."), grade: word(GRADES, "The best grade that is left.") }),
    ),
    scanned_at: moment("When the scan began."),
    expires_at: moment("Until when it is the cached result."),
    duration_ms: count("How long it took."),
    rules_version: text("Names the checks, weights and caps."),
    joined: Type.Boolean({ description: "Whether the call shared a scan that another had begun." }),
    signature: text("A JWS over the rest: see `/.well-known/jwks.json`."),
  },
  { $id: "Scan" },
);

export type ScanReply = Static<typeof Scan>;

const Running = Type.Object(
  { status: Type.Literal("running"), report_url: text("Where the report will be.") },
  { $id: "RunningScan" },
);

const PAID = {
  tag: "Scans",
  access: "public",
  price: { mode: "fixed", amountUsd: SCAN_PRICE_USD },
  replies: { 200: jsonReply("The scan.", Scan) },
  refusals: ["invalid_request", "overloaded", "processing"],
} as const;

const DESCRIPTION =
  "25 checks of how a service is reached, priced, paid and found; at most 26 unpaid requests in at most 20 seconds. Always a fresh scan: calls for an origin whose scan is under way join it. An origin that is broken or cannot be reached is a result, grade F. One scan a minute for an origin; what is sooner is 429. A 504, as any error, is not charged: the scan goes on, and the same payment asked again gets its result.";

export const postScan = operation({
  ...PAID,
  operationId: "postScan",
  method: "POST",
  path: "/v1/scan",
  summary: "Scan a paid service",
  description: DESCRIPTION,
  body: { "application/json": ScanBody },
});

export const getScan = operation({
  ...PAID,
  operationId: "getScan",
  method: "GET",
  path: "/v1/scan",
  summary: "Scan a paid service by its origin alone",
  description: DESCRIPTION,
  query: described(OriginQuery, ORIGIN),
});

const CACHED = {
  tag: "Reports",
  access: "public",
  ifNoneMatch: true,
  refusals: ["invalid_request", "not_found"],
} as const;

export const findReport = operation({
  ...CACHED,
  operationId: "findReport",
  method: "GET",
  path: "/v1/report",
  summary: "The last scan of an origin, up to 24 hours old",
  description: "Free. 202 while the first scan of the origin runs.",
  query: described(OriginQuery, ORIGIN),
  replies: {
    200: jsonReply("The report.", Scan, ["ETag", "Age", "Cache-Control"]),
    202: jsonReply("Its first scan runs.", Running, ["Retry-After"]),
    304: { description: "It is still the same.", headers: ["ETag", "Age", "Cache-Control"] },
  },
});

export const getReport = operation({
  ...CACHED,
  operationId: "getReport",
  method: "GET",
  path: "/v1/report/:report_id",
  parameters: { report_id: "The `report_id` of a scan." },
  summary: "A report, which never changes",
  description: "JSON, or with `Accept: text/html` a page to share. Kept for 90 days.",
  replies: {
    200: {
      description: "The report.",
      headers: ["ETag", "Cache-Control"],
      content: { "application/json": Scan, "text/html": Type.String() },
    },
    202: jsonReply("Its scan runs.", Running, ["Retry-After"]),
    304: { description: "It is still the same.", headers: ["ETag", "Cache-Control"] },
  },
});

export const getEvidence = operation({
  ...CACHED,
  operationId: "getEvidence",
  method: "GET",
  path: "/v1/report/:report_id/evidence",
  parameters: { report_id: "The `report_id` of a scan." },
  summary: "What the score of a report is made of",
  description: "`bun run scan --evidence FILE` makes the same score of it.",
  replies: {
    200: jsonReply(
      "Every request of the scan with what came of it.",
      Type.Object({}, { additionalProperties: true }),
      ["ETag", "Cache-Control"],
    ),
    304: { description: "It is still the same.", headers: ["ETag", "Cache-Control"] },
  },
});
