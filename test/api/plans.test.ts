import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_PLANS, type PlansView, plansView } from "../../src/billing/plans.ts";
import { jsonOf } from "../support/json.ts";
import { refusalOf, startFileServer, startTestServer } from "../support/server.ts";

const server = await startFileServer({ environment: { PUBLIC_REQUESTS_PER_SECOND: "5" } });

describe("200", () => {
  test("returns the catalogue to anybody, cheapest first", async () => {
    const reply = await server.call("/v1/plans");
    expect(reply.headers.get("x-request-id")).toStartWith("req_");
    expect(await jsonOf<PlansView>(reply)).toEqual({
      currency: "USD",
      plans: [
        plan("free", "0.00", 1_000, null, 10, 20, 100),
        plan("starter", "29.00", 25_000, "0.001500", 50, 100, 1_000),
        plan("growth", "149.00", 250_000, "0.000800", 200, 400, 10_000),
        plan("scale", "749.00", 2_500_000, "0.000400", 1_000, 2_000, 100_000),
      ],
    });
  });

  test("returns the operator's catalogue where there is one", async () => {
    const folder = mkdtempSync(join(tmpdir(), "assay-plans-"));
    const PLANS_FILE = join(folder, "plans.json");
    const plans = plansView(DEFAULT_PLANS).plans.map((entry) => ({ ...entry, included_units: 7 }));
    writeFileSync(PLANS_FILE, JSON.stringify({ currency: "USD", plans }));
    await using own = await startTestServer({ environment: { PLANS_FILE } });
    expect((await jsonOf<PlansView>(await own.call("/v1/plans"))).plans).toEqual(plans);
    rmSync(folder, { recursive: true });
  });
});

describe("429", () => {
  test("one address gets a bounded number of answers a second, and then a Retry-After", async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => server.call("/v1/plans")));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(15);
    expect(await refusalOf(refused[0] as Response)).toBe("429 rate_limited");
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
  });
});

function plan(
  name: PlansView["plans"][number]["plan"],
  monthly_price_usd: string,
  included_units: number,
  overage_unit_price_usd: string | null,
  requests_per_second: number,
  burst: number,
  max_batch_size: number,
): PlansView["plans"][number] {
  return {
    plan: name,
    monthly_price_usd,
    included_units,
    overage_unit_price_usd,
    requests_per_second,
    burst,
    max_batch_size,
    max_job_size: JOB_SIZES[name],
    max_jobs: JOBS[name],
  };
}

const JOB_SIZES = { free: 1_000, starter: 100_000, growth: 1_000_000, scale: 10_000_000 };
const JOBS = { free: 1, starter: 3, growth: 10, scale: 30 };
