import { expect, test } from "bun:test";
import { jobView } from "../../src/jobs/job-view.ts";
import { jobRecord } from "../store/job-conformance.ts";

test("a view of a job does not read the names of its columns, of which there may be thousands", () => {
  const view = jobView(jobRecord("job_1", { inputTable: "not read" }), Date.now());
  expect(view).toEqual(jobView(jobRecord("job_1"), Date.now()));
});
