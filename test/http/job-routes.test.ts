import { expect, test } from "bun:test";
import type { Account } from "../../src/accounts/key-ring.ts";
import { ApiError } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/specification/operation.ts";
import type { Call } from "../../src/http/call.ts";
import { type JobRouteDependencies, jobRoutes } from "../../src/http/routes/jobs.ts";
import type { KeyedHandler, Routing } from "../../src/http/routing.ts";

const ACCOUNT = { accountId: "one" } as Account;

/** What the handler of an operation does until its work on the job, in order. The work is refused. */
async function stepsOf(operationId: string): Promise<readonly string[]> {
  const steps: string[] = [];
  const work = async () => {
    steps.push("work");
    throw new ApiError("not_found");
  };
  const handlers = new Map<string, KeyedHandler>();
  const routing: Partial<Routing> = {
    keyed(operation: Operation, handler) {
      handlers.set(operation.operationId, handler);
      return { ...operation, handler: () => ({ status: 204, body: null }), operation };
    },
  };
  const dependencies = {
    routing,
    jobs: { pause: work, resume: work, cancel: work, remove: work },
    idempotent: {
      run: (_call: Call, _account: Account, _digest: unknown, run: (entry: null) => unknown) => run(null),
    },
    bodies: { read: async () => ({ [Symbol.dispose]: () => undefined }) },
    turns: { turnOf: async () => void steps.push("turn") },
    clock: { now: () => 0, monotonic: () => 0 },
  };
  jobRoutes(dependencies as unknown as JobRouteDependencies);
  const call: Partial<Call> = {
    request: new Request("http://assay.test/v1/jobs/job_1"),
    params: { job_id: "job_1" },
    suspendIdleTimeout: () => void steps.push("idle timeout suspended"),
  };
  await expect((async () => handlers.get(operationId)?.(call as Call, ACCOUNT))()).rejects.toThrow(ApiError);
  return steps;
}

test.each(["deleteJob", "pauseJob", "resumeJob", "cancelJob"])(
  "the connection of %s stays open while chunks in work end and the disk is cleared, silent as it is",
  async (operationId) => {
    expect(await stepsOf(operationId)).toEqual(["idle timeout suspended", "turn", "work"]);
  },
);
