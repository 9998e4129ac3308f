import { type PlanCatalogue, plansView } from "../../billing/plans.ts";
import { listPlans } from "../../contract/specification/accounts/account.ts";
import { jsonText } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

/** The plans and their prices: the same text for the life of the process. */
export function planRoutes({
  routing,
  plans,
}: {
  readonly routing: Routing;
  readonly plans: PlanCatalogue;
}): readonly Route[] {
  const body = JSON.stringify(plansView(plans));
  return [routing.public(listPlans, () => jsonText(body))];
}
