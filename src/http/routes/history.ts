import type { Static } from "@sinclair/typebox";
import { formatUsdFixed } from "../../billing/money.ts";
import { ApiError } from "../../contract/errors.ts";
import { getHistory, type History } from "../../contract/specification/directory/check.ts";
import type { Directory } from "../../directory/directory.ts";
import { findHost } from "../../directory/snapshot/snapshot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { ProbeStore } from "../../store/probe-port.ts";
import { withView } from "../directory-view.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type HistoryDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly directory: Pick<Directory, "view" | "opening">;
  readonly clock: Clock;
  /** Null where this server does not probe. */
  readonly probes: ProbeStore | null;
};

const CHANGES_MAX = 1000;

/** `GET /v1/directory/{host}/history`: what the prober has seen of a listed host within 30 days. */
export function historyRoutes({ routing, directory, clock, probes }: HistoryDependencies): readonly Route[] {
  return [
    routing.public(getHistory, (call) =>
      withView(directory, async (view) => {
        const host = (call.params.host ?? "").toLowerCase().replace(/\.$/, "");
        if (findHost(view.snapshot, host) < 0) {
          throw new ApiError("not_found", "There is no listing of this host.");
        }
        const seen = probes === null ? { changes: [], days: [] } : await historyOf(probes, host, clock.now());
        const history: Static<typeof History> = { host, probing: probes !== null, ...seen };
        return { ...json(history), headers: { "Cache-Control": "public, max-age=60" } };
      }),
    ),
  ];
}

async function historyOf(
  probes: ProbeStore,
  host: string,
  now: number,
): Promise<Pick<Static<typeof History>, "changes" | "days">> {
  const { firstDay, probesOf, uptimeOf } = await import("../../prober/own-evidence.ts");
  const shown = (kind: "price" | "payee", text: string) =>
    kind === "price" ? formatUsdFixed(Number(text), 6) : text;
  return {
    changes: probes.changes(host, CHANGES_MAX).map(({ url, kind, before, after, at }) => ({
      at: new Date(at).toISOString(),
      kind,
      resource: url,
      before: shown(kind, before),
      after: shown(kind, after),
    })),
    days: probes.hostDays(host, firstDay(now)).map((day) => ({
      day: day.day,
      probes: probesOf(day),
      paid: day.paid,
      payment_broken: day.paymentBroken,
      down: day.down,
      blocked: day.blocked,
      uptime: uptimeOf([day]),
    })),
  };
}
