import { useState } from "preact/hooks";
import { EMAIL_SUB_STATUSES } from "../../../contract/words.ts";
import { Card } from "../parts/card.tsx";
import { Choice } from "../parts/choice.tsx";
import { Form } from "../parts/form.tsx";
import { TextField } from "../parts/text-field.tsx";
import { type Filter, NO_FILTER } from "../results/filter.ts";
import { ResultTable } from "../results/result-table.tsx";
import { wordsOf } from "../text/format.ts";
import { verdictsOf } from "../text/result-words.ts";
import type { Job } from "../wire/bodies.ts";
import { JobDownload } from "./job-download.tsx";

const ANY = ["", "Any"] as const;

/** The rows of a list, filtered or not, and their download. */
export function JobResultsCard({ job }: { readonly job: Job }) {
  const [filter, setFilter] = useState<Filter>(NO_FILTER);
  const [domain, setDomain] = useState("");
  const set = (part: Partial<Filter>) => setFilter({ ...filter, ...part });
  return (
    <Card title="Results">
      <Form class="fields" onSubmit={() => set({ domain: domain.trim() })}>
        <Choice
          label="Verdict"
          value={filter.status}
          options={[ANY, ...verdictsOf(job.kind).map((word) => [word, wordsOf(word)] as const)]}
          onValue={(status) => set({ status })}
        />
        {job.kind === "email" ? (
          <>
            <Choice
              label="Cause"
              value={filter.subStatus}
              options={[ANY, ...EMAIL_SUB_STATUSES.map((word) => [word as string, wordsOf(word)] as const)]}
              onValue={(subStatus) => set({ subStatus })}
            />
            <div class="with-button">
              <TextField
                label="Domain"
                value={domain}
                onValue={(text) => {
                  setDomain(text);
                  if (text === "") set({ domain: "" });
                }}
                placeholder="example.com"
                autocomplete="off"
              />
              <button type="submit" class="button">
                Apply
              </button>
            </div>
          </>
        ) : null}
      </Form>
      <ResultTable key={`${filter.status} ${filter.subStatus} ${filter.domain}`} job={job} filter={filter} />
      <JobDownload job={job} filter={filter} />
    </Card>
  );
}
