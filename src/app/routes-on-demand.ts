import { DIRECTORY_OPERATIONS } from "../contract/specification/directory/directory.ts";
import { JOB_OPERATIONS } from "../contract/specification/jobs/jobs.ts";
import { IDENTITY_OPERATIONS } from "../contract/specification/verification/identity.ts";
import { PHONE_OPERATIONS } from "../contract/specification/verification/phone.ts";
import type { CheckRouteDependencies } from "../http/metered.ts";
import { onDemand } from "../http/on-demand.ts";
import type { DirectoryRouteDependencies } from "../http/routes/directory.ts";
import type { JobRouteDependencies } from "../http/routes/jobs.ts";
import type { Route } from "../http/routing.ts";

/** Routes whose code is read with the first call of one of them, so that the server starts sooner. */

export function identityRoutesOnDemand(dependencies: CheckRouteDependencies): readonly Route[] {
  return onDemand(IDENTITY_OPERATIONS, async () => {
    const { identityRoutes } = await import("../http/routes/identity.ts");
    return identityRoutes(dependencies);
  });
}

export function phoneRoutesOnDemand(dependencies: CheckRouteDependencies): readonly Route[] {
  return onDemand(PHONE_OPERATIONS, async () => {
    const { phoneRoutes } = await import("../http/routes/phone.ts");
    return phoneRoutes(dependencies);
  });
}

export function jobRoutesOnDemand(dependencies: JobRouteDependencies): readonly Route[] {
  return onDemand(JOB_OPERATIONS, async () => {
    const { jobRoutes } = await import("../http/routes/jobs.ts");
    return jobRoutes(dependencies);
  });
}

export function directoryRoutesOnDemand(dependencies: DirectoryRouteDependencies): readonly Route[] {
  return onDemand(DIRECTORY_OPERATIONS, async () => {
    const { directoryRoutes } = await import("../http/routes/directory.ts");
    return directoryRoutes(dependencies);
  });
}
