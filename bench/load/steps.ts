import { addressCorpus } from "../input.ts";
import { tableText } from "../print.ts";
import { median } from "../result.ts";
import { startDns } from "./dns.ts";
import { CORPUS, type SinglesJob } from "./jobs.ts";
import { cpuSeconds } from "./proc.ts";
import { drive, startFile } from "./processes.ts";
import { replyToCopy } from "./proof.ts";
import { type BenchServer, startServerProcess } from "./server-process.ts";
import { STEPS } from "./steps-left-out.ts";

/**
 * `bun bench/load/steps.ts [--quick] [CONNECTIONS]`: what each step of a single check takes, by leaving it out. Servers that lack
 * one step each, one that lacks none and a bare `Bun.serve` are measured by turns; CPU is that of the server's process,
 * which another load on the machine hardly changes.
 */
const isQuick = process.argv.includes("--quick");
/** The first is the whole; a quick run leaves out two steps to show that it works. */
const NAMES = Object.keys(STEPS).slice(0, isQuick ? 3 : undefined);
const ROUNDS = isQuick ? 1 : 7;
const ROUND_MS = isQuick ? 100 : 600;
const WARMUP_MS = isQuick ? 100 : 2500;
const connections = Number(process.argv.slice(2).find((argument) => argument !== "--quick") ?? 64);

type Measured = {
  readonly name: string;
  readonly aim: { readonly url: string; readonly key: string };
  readonly pid: number;
  readonly cpuUs: number[];
  readonly perSecond: number[];
};

await using stack = new AsyncDisposableStack();
const dns = stack.use(await startDns(addressCorpus(CORPUS).zone));
const measured: Measured[] = [];
const add = (name: string, aim: Measured["aim"], pid: number) =>
  measured.push({ name, aim, pid, cpuUs: [], perSecond: [] });
let whole: BenchServer | undefined;
for (const name of NAMES) {
  const options = { dns: dns.address, file: "bench/load/steps-server.ts", argument: name };
  const server = stack.use(await startServerProcess(options));
  whole ??= server;
  add(name, server, server.pid);
}
if (whole === undefined) throw new Error("there are no steps");
const bare = stack.use(
  await startFile("bench/load/bare-server.ts", {}, { argument: JSON.stringify(await replyToCopy(whole)) }),
);
const url = /listens on (http\S+)/.exec(bare.line)?.[1] ?? "";
add("everything: a bare Bun.serve with the same reply", { url, key: whole.key }, bare.pid);

for (let round = 0; round <= ROUNDS; round += 1) {
  for (const each of measured) await measure(each, round === 0);
}
const cpuOf = ({ cpuUs }: Measured) => median(cpuUs);
const all = cpuOf(measured[0] as Measured);
const spread = (values: readonly number[]) =>
  `${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)}`;
process.stdout.write(
  `${connections} connections, medians of ${ROUNDS} rounds\n${tableText(
    ["left out", "CPU, µs a call", "spread", "takes, µs", "calls a second"],
    measured.map((each) => [
      each.name,
      cpuOf(each).toFixed(1),
      spread(each.cpuUs),
      (all - cpuOf(each)).toFixed(1),
      Math.round(median(each.perSecond)).toLocaleString("en"),
    ]),
  )}\n`,
);

async function measure({ aim, pid, cpuUs, perSecond }: Measured, isWarmup: boolean): Promise<void> {
  const job: SinglesJob = {
    kind: "singles",
    aims: [aim],
    traffic: { kind: "warm" },
    connections,
    ratePerSecond: null,
    spin: true,
    rounds: 1,
    roundMs: isWarmup ? WARMUP_MS : ROUND_MS,
  };
  const before = cpuSeconds(pid);
  const { aims } = await drive(job);
  const after = cpuSeconds(pid);
  const round = aims[0]?.[0];
  if (isWarmup || round === undefined || before === null || after === null) return;
  if (round.wrong > 0 || round.lost > 0) throw new Error("replies are wrong or missing");
  cpuUs.push(((after.all - before.all) * 1e6) / round.replies);
  perSecond.push(round.perSecond);
}
