import { expect } from "bun:test";
import type { TestCluster } from "../support/cluster.ts";
import { jsonOf } from "../support/json.ts";
import type { Told } from "./chaos-callers.ts";
import type { Random } from "./chaos-random.ts";

/** A job that its caller has got the id of. */
export type ToldJob = {
  readonly jobId: string;
  readonly kind: "email" | "phone";
  readonly items: readonly string[];
};

type Job = {
  readonly status: string;
  readonly units_charged: number;
  readonly counts: { readonly processed: number };
};

const ENDED: readonly string[] = ["completed", "failed", "cancelled"];
const ROWS_MAX = 400;
/** From the end of the chaos, all nodes being there. */
const ENDED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Draws the input of a job: no two of its rows are alike. */
export function drawJob(random: Random): Omit<ToldJob, "jobId"> {
  const rows = 1 + Math.floor(random.next() * ROWS_MAX);
  const kind = random.next() < 0.5 ? "email" : "phone";
  const items = Array.from({ length: rows }, (_, at) =>
    kind === "email" ? `user.${at}@good.com` : `+55119${80000000 + at}`,
  );
  return { kind, items };
}

/**
 * Waits until the jobs of an account have ended, cancels those that wait for units, and holds their results against
 * their inputs: each row once and in order. Returns the units that their views and replies say they cost.
 */
export async function endJobs(cluster: TestCluster, { jobs, key }: Told): Promise<number> {
  let units = 0;
  for (const [n, told] of jobs.entries()) {
    const url = `${cluster.nodes[n % cluster.nodes.length]?.url}/v1/jobs/${told.jobId}`;
    const headers = { Authorization: `Bearer ${key}` };
    const job = await untilEnded(url, headers);
    const text = await readResults(url, headers);
    const results = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Result]));
    const inputs = results.map(({ email, input, phone }) => email ?? phone ?? input);
    expect(results.map(({ row }) => row)).toEqual(results.map((_, at) => at + 1));
    expect(inputs).toEqual(told.items.slice(0, results.length));
    expect(results).toHaveLength(job.counts.processed);
    if (job.status === "completed") expect(results).toHaveLength(told.items.length);
    else expect(job.status).toBe("cancelled");
    if (told.kind === "phone") expect(job.units_charged).toBe(results.length);
    units += job.units_charged;
  }
  return units;
}

type Result = {
  readonly row: number;
  readonly email?: string;
  readonly phone?: string;
  readonly input?: string;
};

/** A node that has just been thawed may answer 503, as to any caller. */
async function readResults(url: string, headers: { readonly [name: string]: string }): Promise<string> {
  const startedMs = performance.now();
  for (;;) {
    const reply = await fetch(`${url}/results`, { headers });
    const text = await reply.text();
    if (reply.ok) return text;
    const answer = `${url}/results answered ${reply.status}: ${text}`;
    if (reply.status !== 503 || performance.now() - startedMs > ENDED_WITHIN_MS) throw new Error(answer);
    console.log(answer);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}

async function untilEnded(url: string, headers: { readonly [name: string]: string }): Promise<Job> {
  const startedMs = performance.now();
  for (;;) {
    const job = await jsonOf<Job>(await fetch(url, { headers }));
    if (ENDED.includes(job.status)) return job;
    if (job.status === "paused") await fetch(`${url}/cancel`, { method: "POST", headers });
    if (performance.now() - startedMs > ENDED_WITHIN_MS) throw new Error(`${url} is ${JSON.stringify(job)}`);
    await Bun.sleep(LOOK_EVERY_MS);
  }
}
