import type { TestCluster } from "../support/cluster.ts";
import { drawJob, type ToldJob } from "./chaos-jobs.ts";
import type { Random } from "./chaos-random.ts";

/** What the callers of one account were told. */
export type Told = {
  readonly accountId: string;
  readonly email: string;
  /** All its calls have an Idempotency-Key and are sent until they are answered, so that its sum is exact. */
  readonly isExact: boolean;
  key: string;
  /** Of calls that were answered 200, and of jobs once they have ended. */
  units: number;
  /** Of calls without an answer, and without a key: charged or not. */
  unknownUnits: number;
  plan: string;
  /** Jobs that were accepted. */
  readonly jobs: ToldJob[];
  readonly statuses: Map<string, number>;
};

const PLANS = ["free", "starter", "growth", "scale"];
const CALL_TIMEOUT_MS = 8_000;
const PAUSE_MS = 60;
/** Answers after which the same call is sent again. */
const AGAIN: ReadonlySet<number> = new Set([0, 409, 429, 500, 502, 503]);
/** An account has as many jobs as it may. */
const TOO_MANY = 429;
/** How long the same call is sent again and again. */
const ANSWERED_WITHIN_MS = 90_000;

/** Calls for one account, on any node, until told to stop; then ends the call that is under way. */
export async function callOn(
  cluster: TestCluster,
  told: Told,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  let calls = 0;
  while (!isOver()) {
    calls += 1;
    const name = `${told.accountId} ${random.next()} ${calls}`;
    const dice = random.next();
    if (dice < 0.03) await changePlan(cluster, told, random, name);
    else if (dice < 0.06) await rotate(cluster, told, random, name);
    else if (dice < 0.12) await createJob(cluster, told, random, name);
    else
      await check(cluster, told, random, {
        name,
        count: dice < 0.26 ? 1 + Math.floor(random.next() * 60) : 1,
      });
    await Bun.sleep(random.next() * PAUSE_MS);
  }
}

async function check(
  cluster: TestCluster,
  told: Told,
  random: Random,
  { name, count }: { readonly name: string; readonly count: number },
): Promise<void> {
  const phones = Array.from({ length: count }, (_, n) => `+55119${80000000 + n}`);
  const [path, body] =
    count === 1 ? ["/v1/phone/validate", { phone: phones[0] }] : ["/v1/phone/batch", { phones }];
  const { status } = await send(cluster, told, random, path ?? "", body, told.isExact ? name : null);
  if (status === 200) told.units += count;
  // A refusal is certain; an answer that did not come is not.
  if (status === 0) told.unknownUnits += count;
}

async function changePlan(cluster: TestCluster, told: Told, random: Random, name: string): Promise<void> {
  const next = PLANS[PLANS.indexOf(told.plan) + 1];
  // Some stay where the stop is hard.
  if (next === undefined || told.email.endsWith("0@good.com")) return;
  const { status } = await send(cluster, told, random, "/v1/account/plan", { plan: next }, name);
  if (status === 200) told.plan = next;
}

async function createJob(cluster: TestCluster, told: Told, random: Random, name: string): Promise<void> {
  const job = drawJob(random);
  const { status, text } = await send(cluster, told, random, "/v1/jobs", job, name, TOO_MANY);
  if (status === 202) told.jobs.push({ ...job, jobId: (JSON.parse(text) as { job_id: string }).job_id });
}

async function rotate(cluster: TestCluster, told: Told, random: Random, name: string): Promise<void> {
  const body = { overlap_seconds: 600 };
  const { status, text } = await send(cluster, told, random, "/v1/account/keys/rotate", body, name);
  if (status === 201 || status === 200) told.key = (JSON.parse(text) as { api_key: string }).api_key;
}

/** Sends a call; with an Idempotency-Key again and again, each time to any node, until it is answered. */
async function send(
  cluster: TestCluster,
  told: Told,
  random: Random,
  path: string,
  body: unknown,
  name: string | null,
  refusal: number | null = null,
): Promise<{ readonly status: number; readonly text: string }> {
  const startedMs = performance.now();
  for (;;) {
    const node = cluster.nodes[Math.floor(random.next() * cluster.nodes.length)];
    const answer = await fetch(`${node?.url}${path}`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${told.key}`,
        "Content-Type": "application/json",
        ...(name === null ? {} : { "Idempotency-Key": name }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    })
      .then(async (reply) => ({ status: reply.status, text: await reply.text() }))
      // Also of one that broke off: a node that ends in the middle of it has said nothing.
      .catch(() => ({ status: 0, text: "" }));
    const kind = `${path} ${answer.status}`;
    told.statuses.set(kind, (told.statuses.get(kind) ?? 0) + 1);
    if (name === null || answer.status === refusal || !AGAIN.has(answer.status)) return answer;
    if (performance.now() - startedMs > ANSWERED_WITHIN_MS) throw new Error(`${kind}: ${answer.text}`);
    await Bun.sleep(50);
  }
}
