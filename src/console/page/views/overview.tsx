import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { useConsole } from "../state/console.ts";
import { hrefOf } from "../state/route.ts";
import { useLoad } from "../state/use-load.ts";
import type { Account, JobPage, Plans } from "../wire/bodies.ts";
import { JobTable } from "./job-table.tsx";
import { InvoiceCard, LimitsCard, UnitsCard } from "./overview-cards.tsx";
import { HealthCard } from "./overview-health.tsx";
import { DayUsageCard, EndpointUsageCard } from "./overview-usage.tsx";

/** What is used, what it will cost, and how the server is. */
export function OverviewView() {
  const { api } = useConsole();
  const account = useLoad((signal) => api.read<Account>("/v1/account", signal));
  const plans = useLoad((signal) => api.read<Plans>("/v1/plans", signal));
  const jobs = useLoad((signal) => api.read<JobPage>("/v1/jobs?limit=5", signal));
  return (
    <>
      <div class="view-head">
        <h1>Overview</h1>
        {account.state.status === "ready" ? <p class="muted">{account.state.value.email}</p> : null}
      </div>
      <div class="overview">
        <div class="overview-pair">
          <Await of={account} lines={5}>
            {(value) => (
              <>
                <UnitsCard
                  account={value}
                  plans={plans.state.status === "ready" ? plans.state.value.plans : []}
                />
                <InvoiceCard account={value} />
              </>
            )}
          </Await>
        </div>
        <div class="overview-side">
          <HealthCard />
          {account.state.status === "ready" ? (
            <LimitsCard account={account.state.value} plans={plans} />
          ) : null}
        </div>
        <DayUsageCard />
        <EndpointUsageCard />
        <Card title="Last lists" wide aside={<a href={hrefOf("lists")}>All lists</a>}>
          <Await of={jobs}>{({ data }) => <JobTable jobs={data} />}</Await>
        </Card>
      </div>
    </>
  );
}
