import { availableParallelism } from "node:os";
import { validateDocument } from "../../src/verification/documents/registry.ts";
import { validatePhone } from "../../src/verification/phone/validation.ts";
import { addressCorpus } from "../input.ts";
import { leaveFirstCores } from "../load/cores.ts";
import { startDns } from "../load/dns.ts";
import { CORPUS } from "../load/jobs.ts";
import { proveServerRight } from "../load/proof.ts";
import type { Findings } from "../load/scenarios.ts";
import { type BenchServer, startServerProcess } from "../load/server-process.ts";
import { type Figure, overRounds, type TargetOutcome } from "../result.ts";
import { runSuite, shareOfTenth } from "../suite.ts";
import { emailBodies, ITEMS, itemBatches } from "./bodies.ts";
import { batchOf, byTurns, GROUP, rateFigure, ratioTarget } from "./by-turns.ts";
import { sendBatch } from "./reader.ts";

// Batches of 100,000 in the forms of their bodies and replies, and of every kind, by turns.

const ROUNDS = 9;
const BYTES_PER_MS_OF_1_GBIT = 125_000;
/** As long to the first byte; the median of rounds that differ by half is given some room. */
const FIRST_BYTE_RATIO_MAX = 1.05;

await runSuite("forms", async ({ scale, say, cores }) => {
  if (cores !== null) leaveFirstCores(cores);
  const { cases } = addressCorpus(CORPUS);
  await using dns = await startDns(addressCorpus(CORPUS).zone);
  await using server = await startServerProcess({ dns: dns.address, cores });
  await proveServerRight(server);
  const rounds = Math.max(1, Math.round(ROUNDS * scale));
  const items = Math.round(ITEMS * shareOfTenth(scale));
  const bodies = emailBodies(cases.slice(0, items).map(({ text }) => text));
  say("measuring forms of bodies");
  const forms = await measureForms(server, bodies, { items, rounds });
  say("measuring compressed replies with a reader of 1 Gbit/s");
  const replies = await measureReplies(server, bodies.plain, rounds);
  say("measuring documents and phone numbers");
  const kinds = await measureKinds(server, cores ?? availableParallelism(), { items, rounds });
  const found = [forms, replies, kinds];
  return {
    versions: { dns: dns.software },
    figures: found.flatMap(({ figures }) => figures),
    targets: found.flatMap(({ targets }) => targets),
  };
});

/** Of what is sent: items of a batch, and how often. */
type Size = { readonly items: number; readonly rounds: number };

async function measureForms(
  server: BenchServer,
  bodies: ReturnType<typeof emailBodies>,
  { items, rounds }: Size,
): Promise<Findings> {
  const contenders = [
    ["addresses in ASCII", bodies.plain],
    ["one address in 20 not in ASCII", bodies.notAscii],
    ["one address in 20 with an escape", bodies.escaped],
  ] as const;
  const found = await byTurns(
    contenders.map(([name, body]) => ({
      name,
      measure: batchOf(server, { path: "/v1/email/batch", body, items }),
    })),
    rounds,
  );
  const [plain = []] = found;
  return {
    figures: contenders.map(([name], at) => rateFigure(name, found[at] ?? [])),
    targets: contenders
      .slice(1)
      .map(([name], at) =>
        ratioTarget(
          `batch of 100,000, ${name}`,
          "the same in ASCII",
          { atLeast: 0.8 },
          found[at + 1] ?? [],
          plain,
        ),
      ),
  };
}

async function measureReplies(server: BenchServer, body: Uint8Array, rounds: number): Promise<Findings> {
  const encodings = ["identity", "gzip", "zstd"] as const;
  const firsts = new Map<string, number[]>(encodings.map((encoding) => [encoding, []]));
  const lasts = await byTurns(
    encodings.map((encoding) => ({
      name: encoding,
      measure: async () => {
        const batch = { path: "/v1/email/batch", body, encoding, bytesPerMs: BYTES_PER_MS_OF_1_GBIT };
        const { firstMs, lastMs } = await sendBatch(server, batch);
        firsts.get(encoding)?.push(firstMs);
        return lastMs;
      },
    })),
    rounds,
  );
  const byEnd = [
    // What was sent to warm up comes first.
    ["first", encodings.map((encoding) => firsts.get(encoding)?.slice(-rounds) ?? [])],
    ["last", lasts],
  ] as const;
  return {
    figures: byEnd.flatMap(([end, found]) =>
      encodings.map((encoding, at) => ({
        name: `reply to a reader of 1 Gbit/s, ${encoding}: to the ${end} byte`,
        group: GROUP,
        unit: "ms",
        better: "lower" as const,
        ...overRounds(found[at] ?? []),
      })),
    ),
    targets: byEnd.flatMap(([end, found]) =>
      encodings
        .slice(1)
        .map((encoding, at) =>
          ratioTarget(
            `reply in ${encoding} to a reader of 1 Gbit/s, time to the ${end} byte`,
            "the same reply uncompressed",
            { atMost: end === "first" ? FIRST_BYTE_RATIO_MAX : 1 },
            found[at + 1] ?? [],
            found[0] ?? [],
          ),
        ),
    ),
  };
}

/** Each kind against its pure function on one thread of this process, times the threads that the server has. */
async function measureKinds(
  server: BenchServer,
  threads: number,
  { items, rounds }: Size,
): Promise<Findings> {
  const { documents, phones } = await itemBatches(items);
  const pure = (work: () => number) => () => {
    const startedMs = performance.now();
    const done = work();
    return (done / (performance.now() - startedMs)) * 1000 * threads;
  };
  const kinds = [
    {
      name: "documents",
      batch: documents,
      work: () =>
        documents.items.reduce(
          (done, { type, value }) => done + (validateDocument(type, value) === null ? 0 : 1),
          0,
        ),
    },
    {
      name: "phone numbers",
      batch: phones,
      work: () =>
        phones.items.reduce((done, { text }) => done + (validatePhone(text, undefined) === null ? 0 : 1), 0),
    },
  ];
  const figures: Figure[] = [];
  const targets: TargetOutcome[] = [];
  for (const { name, batch, work } of kinds) {
    const ours = { name, measure: batchOf(server, { ...batch, items }) };
    const [rates = [], ceiling = []] = await byTurns([ours, { name, measure: pure(work) }], rounds);
    figures.push(
      rateFigure(name, rates),
      rateFigure(`${name}: the pure function times ${threads} threads`, ceiling),
    );
    targets.push(
      ratioTarget(
        `batch of 100,000 ${name}`,
        `the pure function on one thread times ${threads}`,
        { atLeast: 0.7 },
        rates,
        ceiling,
      ),
    );
  }
  return { figures, targets };
}
