import * as account from "../../src/contract/specification/accounts/account.ts";
import * as keys from "../../src/contract/specification/accounts/keys.ts";
import * as directory from "../../src/contract/specification/directory/directory.ts";
import * as jobParts from "../../src/contract/specification/jobs/job-parts.ts";
import * as jobResults from "../../src/contract/specification/jobs/job-results.ts";
import * as jobs from "../../src/contract/specification/jobs/jobs.ts";
import type { Operation } from "../../src/contract/specification/operation.ts";
import * as service from "../../src/contract/specification/service/service.ts";
import * as email from "../../src/contract/specification/verification/email.ts";
import * as identity from "../../src/contract/specification/verification/identity.ts";
import * as phone from "../../src/contract/specification/verification/phone.ts";
import * as webhooks from "../../src/contract/specification/webhooks/webhooks.ts";

/** Every operation of the server, as the routes are registered with it. */
export const OPERATIONS: readonly Operation[] = [
  account,
  directory,
  email,
  identity,
  jobs,
  jobParts,
  jobResults,
  keys,
  phone,
  service,
  webhooks,
]
  .flatMap((module) => Object.values(module) as unknown[])
  .filter(
    (value): value is Operation => typeof value === "object" && value !== null && "operationId" in value,
  );
