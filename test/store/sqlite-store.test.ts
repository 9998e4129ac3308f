import { openStore } from "../../src/store/sqlite/open.ts";
import { describeJobs } from "./job-conformance.ts";
import { describeLooks } from "./look-conformance.ts";
import { describeStore } from "./store-conformance.ts";
import { describeWebhooks } from "./webhook-conformance.ts";

for (const describeCases of [describeStore, describeJobs, describeWebhooks, describeLooks]) {
  describeCases("SQLite", (clock) => openStore({ path: ":memory:", clock }));
}
