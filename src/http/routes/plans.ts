import { Elysia } from "elysia";
import { type PlanCatalogue, type PlansView, plansView } from "../../billing/plans.ts";
import { listPlans } from "../../contract/specification/account.ts";
import type { PublicGate } from "../auth.ts";
import type { Boundary } from "../boundary.ts";
import { jsonText } from "../reply.ts";

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
