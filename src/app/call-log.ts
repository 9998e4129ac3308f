import type { CallReport } from "../http/call.ts";
import type { Log } from "./log.ts";

/** What balancers and service managers ask several times a second. */
const PROBE_ROUTES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);

/**
 * Writes one line per call: what was asked of which route, by which account, and what became of it. Probes that find
 * the server well are of the level debug.
 */
export function logCall(log: Log, { call, status, durationMs, outcome }: CallReport): void {
  const isProbe = status === 200 && PROBE_ROUTES.has(call.route);
  log[isProbe ? "debug" : "info"]("call", {
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
