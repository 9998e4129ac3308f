import type { CallReport } from "../http/boundary.ts";
import type { Log } from "./log.ts";

/** Writes one line per call: what was asked of which route, by which account, and what became of it. */
export function logCall(log: Log, { call, status, durationMs, outcome }: CallReport): void {
  log.info("call", {
    request_id: call.id,
    method: call.request.method,
    route: call.route,
    status,
    ms: Math.round(durationMs * 100) / 100,
    account: call.account?.accountId,
    units: call.units,
    outcome: outcome === "complete" ? undefined : outcome,
  });
}
