import { type BoundaryDependencies, createBoundary } from "../../src/http/boundary.ts";
import { systemClock } from "../../src/platform/clock.ts";

/** A boundary without a server, a proxy and keys, but for what the test gives it. */
export function testBoundary(dependencies: Partial<BoundaryDependencies> = {}) {
  return createBoundary({
    clock: systemClock,
    newRequestId: () => "req_1",
    trustProxy: false,
    server: () => null,
    draining: () => false,
    readBearer: () => null,
    setRateLimitHeaders: () => undefined,
    report: () => undefined,
    reportBug: (_, error) => {
      throw error;
    },
    refusalOf: () => undefined,
    ...dependencies,
  });
}
