import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { quantile } from "../support/caller.ts";
import { startFileFaultServer } from "../support/fault-server.ts";

setDefaultTimeout(120_000);

const CALLS = 500;
const CONNECTIONS = "16";
/** Two cores do the server, the flood and the measuring: below this a quantile says nothing. */
const FLOOR_MS = 60;
/** Batches of a whole plan keep both cores busy. */
const BATCHES_FLOOR_MS = 120;

const { server, caller, key } = await startFileFaultServer("neighbours");

const CHECK = "/v1/email/verify?email=someone%40good.com";

/** Calls one after the other with the good key, below its rate of 1,000 a second; how long they took. */
async function measure(): Promise<readonly number[]> {
  const times: number[] = [];
  while (times.length < CALLS) {
    const startedMs = performance.now();
    const reply = await caller.call(CHECK, { key });
    await reply.text();
    expect(reply.status).toBe(200);
    times.push(performance.now() - startedMs);
    await Bun.sleep(1);
  }
  return times;
}

/** Has another process call meanwhile; what it says of its answers once it is stopped. */
async function beside<T>(
  script: "flood" | "batch-caller",
  args: readonly string[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly said: { readonly [what: string]: number } }> {
  const child = Bun.spawn({
    cmd: [process.execPath, join(import.meta.dir, `../support/${script}.ts`), server.url, ...args],
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  try {
    const reader = child.stdout.getReader();
    await reader.read();
    const result = await work();
    child.stdin.write("stop\n");
    await child.stdin.flush();
    let said = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      said += new TextDecoder().decode(part.value);
    }
    return { result, said: JSON.parse(said) };
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}

/**
 * Measures in quiet and in noise, up to three times: what else the machine does can only make a comparison worse.
 * `noise` measures while it makes noise, and returns with the times what it counted.
 */
async function compare(
  what: string,
  noise: () => Promise<{ readonly times: readonly number[]; readonly counted: unknown }>,
  floorMs = FLOOR_MS,
): Promise<void> {
  let isUnhurt = false;
  for (let attempt = 0; attempt < 3 && !isUnhurt; attempt += 1) {
    const quietMs = quantile(await measure(), 0.99);
    const { times, counted } = await noise();
    const loudMs = quantile(times, 0.99);
    process.stdout.write(
      `${what}: p99 ${quietMs.toFixed(1)} ms quiet, ${loudMs.toFixed(1)} ms beside ${JSON.stringify(counted)}\n`,
    );
    isUnhurt = loudMs < Math.max(2 * quietMs, floorMs);
  }
  expect(isUnhurt).toBeTrue();
}

describe("a good key is not slowed down", () => {
  test("by a flood of bad keys, all of which are 401", async () => {
    await measure();
    await compare("bad keys", async () => {
      const before = await caller.unitsOf(key);
      const { result, said: answers } = await beside("flood", [CONNECTIONS, CHECK], measure);
      expect(Object.keys(answers)).toEqual(["401 bad_key"]);
      expect(answers["401 bad_key"]).toBeGreaterThan(CALLS);
      expect(await caller.unitsOf(key)).toBe(before + CALLS);
      return { times: result, counted: answers };
    });
  });

  test("by another key that calls by the thousand a second, which is held to its rate and pays for what passed", async () => {
    await compare("a noisy key", async () => {
      const noisyKey = await caller.signUp("free");
      const startedMs = performance.now();
      const { result, said: answers } = await beside("flood", [CONNECTIONS, CHECK, noisyKey], measure);
      const seconds = (performance.now() - startedMs) / 1000;
      const passed = answers["200 ok"] ?? 0;
      expect(Object.keys(answers).sort()).toEqual(["200 ok", "429 rate_limited"]);
      expect(passed).toBeGreaterThanOrEqual(20);
      expect(passed).toBeLessThanOrEqual(Math.ceil(20 + 10 * seconds));
      expect(await caller.unitsOf(noisyKey)).toBe(passed);
      return { times: result, counted: answers };
    });
  });

  test("by another key's batches of its whole plan", async () => {
    const noise = async () => {
      const noisyKey = await caller.signUp("scale");
      const { result, said } = await beside("batch-caller", [noisyKey], measure);
      expect(said.units).toBeGreaterThanOrEqual(200_000);
      expect(await caller.unitsOf(noisyKey)).toBe(said.units ?? 0);
      return { times: result, counted: said };
    };
    await compare("batches", noise, BATCHES_FLOOR_MS);
  });
});
