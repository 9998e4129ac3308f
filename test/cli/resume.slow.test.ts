import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { until } from "../support/caller.ts";
import { TEST_ZONE } from "../support/server.ts";
import { type CommandRoom, openCommandRoom } from "./command.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const ROWS = 30_000;
/** The domain of the last row alone: while it is not answered for, no run ends. */
const LAST = "last.many.com";
let room: CommandRoom;
let whole = "";
beforeAll(async () => {
  room = await openCommandRoom();
  await room.write("in.csv", csvOf(ROWS));
  await room.run(["in.csv", "-q", "-o", "whole.csv"]);
  whole = await room.read("whole.csv");
});
afterAll(() => room[Symbol.asyncDispose]());

function csvOf(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, i) => `${i},user${i}@${i === ROWS - 1 ? LAST : `d${i % 300}.many.com`},"a ""note"", ${i}"`,
  );
  return `id,email,note\n${lines.join("\n")}\n`;
}

/** Sends the signal once the output has grown to some size, however quick the command is. */
async function interrupt(
  args: readonly string[],
  output: string,
  signal: "SIGKILL" | "SIGINT" | "SIGTERM",
  bytes: number,
  send: (child: Bun.Subprocess) => void = (child) => child.kill(signal),
) {
  room.dns.setZone(`${TEST_ZONE}${LAST} !silent\n`);
  const { child, ended } = room.start(args, { env: { DNS_TIMEOUT_MS: "20000" } });
  while (child.exitCode === null && Bun.file(`${room.folder}/${output}`).size < bytes) await Bun.sleep(2);
  send(child);
  const ran = await ended;
  room.dns.setZone(TEST_ZONE);
  return { child, ...ran };
}

test("killed again and again and gone on with, the output is as of one run", async () => {
  const args = ["in.csv", "-q", "-o", "killed.csv", "--resume"];
  let bytes = 200_000;
  for (const signal of ["SIGKILL", "SIGINT", "SIGKILL", "SIGTERM"] as const) {
    const { child } = await interrupt(args, "killed.csv", signal, bytes);
    expect(`${child.exitCode ?? child.signalCode}`).toBe(
      { SIGKILL: "SIGKILL", SIGINT: "130", SIGTERM: "143" }[signal],
    );
    expect(await room.exists("killed.csv.resume")).toBe(true);
    bytes += 1_000_000;
  }
  const last = await room.run(["in.csv", "-o", "killed.csv", "--resume"]);
  expect(last.exitCode).toBe(0);
  expect(last.stderr).toMatch(/rows of the run before, 30,000 in all/);
  expect(last.stderr).toMatch(/deliverable\s+30,000\s+100\.0%/);
  expect(await room.read("killed.csv")).toBe(whole);
  expect(await room.exists("killed.csv.resume")).toBe(false);
});

test("an interrupt says how to go on, and every line that is there is whole", async () => {
  const { stderr } = await interrupt(["in.csv", "-q", "-o", "int.csv"], "int.csv", "SIGINT", 500_000);
  expect(stderr).toMatch(
    /^Interrupted\. The results of [\d,]+ rows are in int\.csv; the same command with --resume/,
  );
  const half = await room.read("int.csv");
  expect(whole.startsWith(half)).toBe(true);
  expect(half).toEndWith("\n");
  const { stderr: refusal, exitCode } = await room.run(["in.csv", "-q", "-o", "int.csv"]);
  expect(exitCode).toBe(1);
  expect(refusal).toBe("int.csv is half done; use --resume to go on or --force to begin anew.\n");
  expect((await room.run(["in.csv", "-q", "-o", "int.csv", "--force"])).exitCode).toBe(0);
  expect(await room.read("int.csv")).toBe(whole);
});

test("a Ctrl-C that comes again at once, as `bun run` passes it on, is one", async () => {
  const again = 'for each in {1..2000}; do kill -INT "$1" || exit 0; done';
  for (const output of ["again-1.csv", "again-2.csv", "again-3.csv"]) {
    const args = ["in.csv", "-q", "-o", output];
    const { exitCode, stderr } = await interrupt(args, output, "SIGINT", 200_000, ({ pid }) => {
      Bun.spawnSync(["bash", "-c", again, "bash", `${pid}`]);
    });
    expect(stderr).toStartWith("Interrupted. The results of ");
    expect(exitCode).toBe(130);
  }
});

test("rows that --only leaves out are not done twice either", async () => {
  const args = ["in.csv", "-q", "-o", "only.csv", "--only", "deliverable", "--format", "ndjson", "--resume"];
  await interrupt(args, "only.csv", "SIGKILL", 2_000_000);
  expect((await room.run(args)).exitCode).toBe(0);
  const ids = (await room.read("only.csv"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).input.id);
  expect(ids).toEqual(Array.from({ length: ROWS }, (_, i) => `${i}`));
});

test("goes on only with the same input, the same options and the output as it was left", async () => {
  const start = () => interrupt(["in.csv", "-q", "-o", "same.csv", "--force"], "same.csv", "SIGINT", 500_000);
  await start();
  const refusalOf = async (...args: string[]) => {
    const { exitCode, stderr } = await room.run([...args, "-q", "-o", "same.csv", "--resume"]);
    expect(exitCode).toBe(1);
    return stderr;
  };
  await room.write("other.csv", csvOf(ROWS).replace("user7@", "user8@"));
  expect(await refusalOf("other.csv")).toStartWith("The input is not the one that same.csv was begun with");
  await room.write("short.csv", csvOf(10));
  expect(await refusalOf("short.csv")).toStartWith("The input is not the one that same.csv was begun with");
  expect(await refusalOf("in.csv", "--deep")).toStartWith("same.csv was begun with other options");
  const half = await room.read("same.csv");
  await room.write("same.csv", half.slice(0, 1000));
  expect(await refusalOf("in.csv")).toStartWith("same.csv is shorter than when it was left");
  await room.write("same.csv", half);
  expect((await room.run(["in.csv", "-q", "-o", "same.csv", "--resume"])).exitCode).toBe(0);
  expect(await room.read("same.csv")).toBe(whole);
});

test.skipIf(process.platform !== "linux")(
  "a second run on an output is refused, and harms nothing",
  async () => {
    room.dns.setZone(`${TEST_ZONE}${LAST} !silent\n`);
    const args = ["in.csv", "-q", "-o", "shared.csv"];
    const { child, ended } = room.start(args, { env: { DNS_TIMEOUT_MS: "20000" } });
    while (child.exitCode === null && !(await room.exists("shared.csv.resume"))) await Bun.sleep(2);
    for (const option of ["--resume", "--force", "--no-dns"]) {
      const { exitCode, stderr } = await room.run([...args, option]);
      expect(stderr).toBe(
        `shared.csv is being written by process ${child.pid}: wait for its end, or end it.\n`,
      );
      expect(exitCode).toBe(1);
    }
    child.kill("SIGKILL");
    await ended;
    const resumed = room.start([...args, "--resume"], { env: { DNS_TIMEOUT_MS: "20000" } });
    const isClaimed = async () =>
      (await room.read("shared.csv.resume")).includes(`"pid":${resumed.child.pid},`);
    while (resumed.child.exitCode === null && !(await isClaimed())) await Bun.sleep(2);
    expect((await room.run([...args, "--resume"])).stderr).toContain(`by process ${resumed.child.pid}`);
    resumed.child.kill("SIGKILL");
    await resumed.ended;
    room.dns.setZone(TEST_ZONE);
    expect((await room.run([...args, "--resume"])).exitCode).toBe(0);
    expect(await room.read("shared.csv")).toBe(whole);
  },
);

test("of runs that begin on one output at the same moment one goes on, and a killed one keeps none out", async () => {
  room.dns.setZone(`${TEST_ZONE}${LAST} !silent\n`);
  const args = ["in.csv", "-q", "-o", "race.csv"];
  for (const options of [[], ["--resume"], ["--force"]]) {
    const runs = Array.from({ length: 4 }, () =>
      room.start([...args, ...options], { env: { DNS_TIMEOUT_MS: "20000" } }),
    );
    const refused: string[] = [];
    const ends = runs.map(({ ended }) => ended.then(({ stderr }) => refused.push(stderr)));
    await until("the refusals of the others", () => refused.length === 3, 30_000);
    for (const stderr of refused) {
      expect(stderr).toMatch(
        /^race\.csv is being written by (another process|process \d+): wait for its end, or end it\.\n$/,
      );
    }
    await until("a checkpoint", () => room.exists("race.csv.resume"));
    for (const { child } of runs) child.kill("SIGKILL");
    await Promise.all(ends);
  }
  room.dns.setZone(TEST_ZONE);
  expect((await room.run([...args, "--resume"])).exitCode).toBe(0);
  expect(await room.read("race.csv")).toBe(whole);
  expect(await room.exists("race.csv.resume.lock")).toBe(false);
});

test("a grown input is gone on with", async () => {
  await room.write("grow.csv", csvOf(700));
  const broken = `${csvOf(700)}700,"user`;
  await room.write("grow.csv", broken);
  expect((await room.run(["grow.csv", "-q", "-o", "grow-out.csv"])).exitCode).toBe(1);
  await room.write("grow.csv", csvOf(1900));
  expect((await room.run(["grow.csv", "-q", "-o", "grow-out.csv", "--resume"])).exitCode).toBe(0);
  expect(whole.startsWith(await room.read("grow-out.csv"))).toBe(true);
  expect((await room.read("grow-out.csv")).split("\n").length).toBe(1902);
});

test("memory does not grow with the file", async () => {
  const peakOf = async (rows: number) => {
    await room.write("peak.csv", csvOf(rows));
    const { child, ended } = room.start(["peak.csv", "-q", "--no-dns", "-o", "/dev/null"]);
    let peakKb = 0;
    while (child.exitCode === null) {
      const status = await Bun.file(`/proc/${child.pid}/status`)
        .text()
        .catch(() => "");
      peakKb = Math.max(peakKb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0));
      await Bun.sleep(10);
    }
    expect((await ended).exitCode).toBe(0);
    return peakKb / 1024;
  };
  const small = await peakOf(40_000);
  const large = await peakOf(400_000);
  // Rows and results that are kept would take more than 1 KB each; the heap alone settles some 150 MB higher.
  expect(large - small).toBeLessThan(300);
}, 240_000);
