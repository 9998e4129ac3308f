import { ApiError } from "../../contract/errors.ts";
import { bodyReader, queryReader } from "../../contract/schema.ts";
import {
  findReport,
  getEvidence,
  getReport,
  getScan,
  postScan,
  type ScanReply,
} from "../../contract/specification/directory/scan.ts";
import type { TargetRules } from "../../net/target.ts";
import { bazaarExtension } from "../../payments/bazaar.ts";
import type { Payment, PreparedAnswer } from "../../payments/paid-call.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Steps } from "../../platform/steps.ts";
import { evidenceText } from "../../scan/packed-evidence.ts";
import { REPORT_PAGE_POLICY, reportPage } from "../../scan/report-page.ts";
import type { RunningScans } from "../../scan/running-scans.ts";
import { readScanTarget, type ScanTarget } from "../../scan/scan-target.ts";
import type { Scan, ScanResult } from "../../scan/scans.ts";
import type { ReportRow, ScanStore } from "../../store/scan-port.ts";
import { parseJson, requireJson, SMALL_BODY_BYTES_MAX } from "../bodies/request-body.ts";
import type { Call } from "../call.ts";
import { isCurrent, weightOf } from "../negotiation.ts";
import type { Paid, PaidWork } from "../paid.ts";
import { json, jsonText, type Reply } from "../reply.ts";
import { requestPath } from "../request-path.ts";
import type { Route, Routing } from "../routing.ts";

export type ScanRouteDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly paid: Paid;
  readonly scan: Scan;
  readonly runningScans: RunningScans<ScanResult>;
  readonly store: Pick<ScanStore, "find" | "newest">;
  readonly clock: Clock;
  /** Shared with the scans. */
  readonly step: Steps;
  readonly originOf: (request: Request) => string;
  /** Where scans may go. */
  readonly targetRules: TargetRules;
};

const RETRY_SECONDS = 2;
const EXAMPLE = { origin: "https://api.example.com" };
const EXAMPLE_OUTPUT = { origin: "https://api.example.com", grade: "A", score: 96, report_id: "rep_…" };

/** Scans, which are paid, and their reports, which are free. */
export function scanRoutes(dependencies: ScanRouteDependencies): readonly Route[] {
  const { routing, paid, store, clock, step, runningScans, originOf, targetRules } = dependencies;
  const readBody = bodyReader(postScan);
  const readScanQuery = queryReader(getScan);
  const readReportQuery = queryReader(findReport);
  const urlOf = (call: Call, reportId: string) => `${originOf(call.request)}/v1/report/${reportId}`;

  function work(call: Call, { origin, resources = [] }: Partial<ScanTarget> & { origin: string }): PaidWork {
    const target = requireTarget(origin, resources, targetRules);
    const arrivedMs = clock.monotonic();
    const isPaying = call.request.headers.has("payment-signature") || call.request.headers.has("x-payment");
    // Who would get 429 once they have signed, gets it before.
    if (!isPaying) runningScans.requireJoinable(target.origin);
    return { work: (payment) => scanFor(dependencies, call, target, payment, arrivedMs) };
  }

  function answerRunning(call: Call, reportId: string): Reply {
    const running = json({ status: "running", report_url: urlOf(call, reportId) }, 202);
    return { ...running, headers: { "Retry-After": `${RETRY_SECONDS}`, "Cache-Control": "no-store" } };
  }

  const options = (method: string, schema: object) => ({
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    extensions: bazaarExtension({
      method,
      input: { example: EXAMPLE, schema: { ...schema } },
      output: EXAMPLE_OUTPUT,
    }),
  });
  const schema = { type: "object", properties: { origin: { type: "string" } }, required: ["origin"] };
  const resources = { type: "array", items: { type: "string" }, maxItems: 5 };
  const bodySchema = { ...schema, properties: { ...schema.properties, resources } };
  return [
    paid(
      postScan,
      (call, body) => {
        requireJson(call.request, body);
        return work(call, readBody(parseJson(body)));
      },
      options("POST", bodySchema),
    ),
    paid(getScan, (call) => work(call, readScanQuery(call.request.url)), options("GET", schema)),
    routing.public(findReport, (call) => {
      const { origin } = requireTarget(readReportQuery(call.request.url).origin, [], targetRules);
      const row = store.newest(origin);
      const now = clock.now();
      const isCached = row !== undefined && now < row.expiresAt;
      const running = isCached ? null : runningScans.runningId(origin);
      if (running !== null) return answerRunning(call, running);
      if (row === undefined) throw new ApiError("not_found", "This origin was not scanned yet.");
      if (!isCached) throw new ApiError("not_found", "The last scan of this origin is older than 24 hours.");
      const ageSeconds = Math.max(0, Math.floor((now - row.scannedAt) / 1000));
      return answerReport(call, row, { "Cache-Control": "public, max-age=60", Age: `${ageSeconds}` });
    }),
    routing.public(getReport, (call) => {
      const reportId = call.params.report_id ?? "";
      if (runningScans.isRunning(reportId)) return answerRunning(call, reportId);
      const headers = { "Cache-Control": "public, max-age=86400, immutable" };
      return answerReport(call, rowOf(store, reportId), headers, wantsPage(call.request));
    }),
    routing.public(getEvidence, async (call) => {
      const row = rowOf(store, call.params.report_id ?? "");
      const headers = {
        ETag: `"${row.reportId}-evidence"`,
        "Cache-Control": "public, max-age=86400, immutable",
        "X-Content-Type-Options": "nosniff",
      };
      if (isCurrent(call.request, headers.ETag)) return { status: 304, body: null, headers };
      return { ...jsonText(await evidenceText(row.evidence, step)), headers };
    }),
  ];
}

/** The work of a paid scan: settled only where a result is there in time. */
async function scanFor(
  { scan, runningScans, originOf }: ScanRouteDependencies,
  call: Call,
  { origin, resources }: ScanTarget,
  { payer, paymentId }: Payment,
  arrivedMs: number,
): Promise<PreparedAnswer> {
  const urlOf = (reportId: string) => `${originOf(call.request)}/v1/report/${reportId}`;
  const caller = { tenant: payer, key: paymentId, arrivedMs };
  const outcome = await runningScans.join(origin, caller, (reportId) =>
    scan(reportId, { origin, resources, reportUrl: urlOf(reportId) }),
  );
  if (outcome.kind === "late") {
    const { code, message, status } = new ApiError("processing");
    const body = JSON.stringify({ error: { code, message }, report_url: urlOf(outcome.id) });
    const headers = { "Retry-After": `${RETRY_SECONDS}`, "x-should-retry": "false" };
    return { kind: "answer", status, headers, body };
  }
  const { result, joined } = outcome;
  if (result.kind === "refused") throw new ApiError("invalid_request", result.reason);
  const body = joined ? result.joinedReport : result.report;
  return { kind: "answer", status: 200, headers: {}, body };
}

/** Throws `invalid_request` for what may not be scanned, before anything is looked up. */
function requireTarget(text: string, resources: readonly string[], rules: TargetRules): ScanTarget {
  const target = readScanTarget(text, resources, rules);
  if (typeof target === "string") throw new ApiError("invalid_request", target);
  return target;
}

function rowOf(store: Pick<ScanStore, "find">, reportId: string): ReportRow {
  const row = store.find(reportId);
  if (row === undefined) throw new ApiError("not_found", "There is no report with this id.");
  return row;
}

function wantsPage({ headers, url }: Request): boolean {
  if (requestPath(url).search.includes("format=json")) return false;
  const accept = headers.get("accept") ?? "";
  return /text\/html/i.test(accept) && weightOf(accept, "text/html") >= weightOf(accept, "application/json");
}

function answerReport(
  { request }: Call,
  { reportId, report }: ReportRow,
  fresh: { readonly [name: string]: string },
  asPage = false,
): Reply {
  const headers = { ...fresh, ETag: `"${reportId}${asPage ? "-page" : ""}"`, Vary: "Accept" };
  if (isCurrent(request, headers.ETag)) return { status: 304, body: null, headers };
  if (!asPage) return { ...jsonText(report), headers };
  const page = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": REPORT_PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  };
  const body = reportPage(JSON.parse(report) as ScanReply);
  return { status: 200, body, headers: { ...headers, ...page } };
}
