import { useState } from "preact/hooks";
import { Columns } from "../charts/columns.tsx";
import { MeterBar } from "../charts/meter-bar.tsx";
import { Await } from "../parts/await.tsx";
import { Card } from "../parts/card.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { useConsole } from "../state/console.ts";
import { useLoad } from "../state/use-load.ts";
import { countOf, dayOf, percentOf, shortDayOf } from "../text/format.ts";
import type { DayUsage, EndpointUsage } from "../wire/bodies.ts";

const DAYS = 30;
const DAYS_PER_NAME = 7;
const DAY_MS = 86_400_000;

/** Returns the days of the last 30 in the server's calendar, today last, and the range that asks for them. */
function lastDays(nowMs: number): { readonly days: readonly string[]; readonly range: string } {
  const days = Array.from({ length: DAYS }, (_, at) =>
    new Date(nowMs - (DAYS - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
  return { days, range: `from=${days[0]}&to=${days.at(-1)}` };
}

/** Calls and units of the last 30 days, by day. */
export function DayUsageCard() {
  const { api, now } = useConsole();
  const [measure, setMeasure] = useState<"units" | "calls">("units");
  const { days, range } = lastDays(now());
  const byDay = useLoad(
    (signal) => api.read<DayUsage>(`/v1/account/usage?${range}&group_by=day`, signal),
    [range],
  );
  return (
    <Card title="Last 30 days">
      <Tabs
        label="What is counted"
        names={[
          ["units", "Units"],
          ["calls", "Calls"],
        ]}
        chosen={measure}
        onChoose={setMeasure}
      >
        <Await of={byDay} lines={6}>
          {({ rows }) => {
            const found = new Map(rows.map((row) => [row.day, row[measure]]));
            const bars = days.map((day) => ({
              name: dayOf(day),
              short: shortDayOf(day),
              value: found.get(day) ?? 0,
            }));
            const total = bars.reduce((sum, { value }) => sum + value, 0);
            return (
              <Columns
                title={`${measure === "units" ? "Units" : "Calls"} by day`}
                nameHead="Day (UTC)"
                valueHead={measure === "units" ? "Units" : "Calls"}
                bars={bars}
                barsPerName={DAYS_PER_NAME}
                note={`${countOf(total)} ${measure} in 30 days`}
              />
            );
          }}
        </Await>
      </Tabs>
    </Card>
  );
}

/** Calls and units of the last 30 days, by endpoint. */
export function EndpointUsageCard() {
  const { api, now } = useConsole();
  const { range } = lastDays(now());
  const byEndpoint = useLoad(
    (signal) => api.read<EndpointUsage>(`/v1/account/usage?${range}&group_by=endpoint`, signal),
    [range],
  );
  return (
    <Card title="By endpoint" wide>
      <Await of={byEndpoint}>
        {({ rows }) => {
          const total = rows.reduce((sum, { units }) => sum + units, 0);
          return (
            <Table
              caption="Calls and units by endpoint, last 30 days"
              columns={[
                { head: "Endpoint", cell: ({ endpoint }) => <code>{endpoint}</code> },
                { head: "Calls", cell: ({ calls }) => countOf(calls), isNumber: true },
                { head: "Units", cell: ({ units }) => countOf(units), isNumber: true },
                {
                  head: "Share of units",
                  cell: ({ units, endpoint }) => (
                    <MeterBar
                      label={`${endpoint}: ${percentOf(units / Math.max(1, total))} of the units`}
                      value={units}
                      most={Math.max(1, total)}
                    />
                  ),
                },
              ]}
              rows={[...rows].sort((a, b) => b.units - a.units || b.calls - a.calls)}
              keyOf={({ endpoint }) => endpoint}
              isCompact
              empty={<p>No calls yet. The view Try makes the first one.</p>}
            />
          );
        }}
      </Await>
    </Card>
  );
}
