import { Badge } from "../parts/badge.tsx";
import { Moment } from "../parts/moment.tsx";
import { Table } from "../parts/table.tsx";
import { hrefOf } from "../state/route.ts";
import { countOf, percentOf } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Job } from "../wire/bodies.ts";

/** Jobs, newest first. */
export function JobTable({ jobs }: { readonly jobs: readonly Job[] }) {
  return (
    <Table
      caption="Lists"
      columns={[
        {
          head: "List",
          cell: (job: Job) => (
            <a class="name" href={hrefOf("lists", job.job_id)}>
              {visible(job.name ?? job.job_id)}
            </a>
          ),
        },
        { head: "Status", cell: ({ status }) => <Badge word={status} /> },
        { head: "Progress", cell: ({ progress }) => percentOf(progress), isNumber: true },
        { head: "Rows", cell: ({ counts }) => countOf(counts.rows), isNumber: true },
        { head: "Units", cell: ({ units_charged }) => countOf(units_charged), isNumber: true },
        { head: "Created", cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
      rows={jobs}
      keyOf={({ job_id }) => job_id}
      empty={
        <p>
          No lists yet. <a href={hrefOf("lists")}>Start one</a> with a CSV file of any size.
        </p>
      }
    />
  );
}
