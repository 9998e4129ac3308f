import { Elysia } from "elysia";
import { type PlanCatalogue, type PlansView, plansView } from "../metering/plans.ts";
import type { Boundary } from "./boundary.ts";
import type { PublicGate } from "./guard.ts";
import { jsonText } from "./reply.ts";
import { listPlans } from "./specification/account.ts";

/** The plans and their prices: the same text for the life of the process. */
export function planRoutes(parts: { boundary: Boundary; admit: PublicGate; plans: PlanCatalogue }) {
  const body = JSON.stringify(plansView(parts.plans));
  return new Elysia({ name: "plans" }).get(
    "/v1/plans",
    parts.boundary.route<PlansView>("/v1/plans", (call) => {
      parts.admit(call);
      return jsonText(body);
    }),
    { detail: listPlans },
  );
}
