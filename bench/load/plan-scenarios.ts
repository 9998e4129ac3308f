import { connect } from "node:net";
import { createClient } from "../../src/client/client.ts";
import { COST_NAMES, type Item } from "../capacity/costs.ts";
import { addressCorpus, coldAddress } from "../input.ts";
import type { Figure } from "../result.ts";
import { documentCorpus, plainPhoneCorpus } from "../vector-input.ts";
import { type Aim, CORPUS } from "./jobs.ts";
import { spending } from "./readings.ts";
import type { Bench, Findings } from "./scenarios.ts";
import type { BenchServer } from "./server-process.ts";
import { costFigures } from "./single-figures.ts";

/** Items of a batch. */
const SIZE = 1000;
const BATCHES = 40;
const SINGLES = 4000;
const SINGLES_AT_A_TIME = 64;
const JOB_ROWS = 200_000;
const POLL_MS = 20;
const STATUS_LINE = "HTTP/1.1 200";
/** Quick runs do a tenth, and no less than this many of the smallest. */
const BATCHES_MIN = 4;

type Work = { readonly path: string; readonly body: string | null };
type Wire = { readonly received: number; readonly sent: number; readonly sentGzip: number };

/** Measures what plans count with beside warm addresses: other items, `deep`, DNS queries, bytes on the wire and on the disk. */
export async function measurePlanCosts({ server, options }: Bench): Promise<Findings> {
  const { scale } = options;
  const batches = Math.max(BATCHES_MIN, Math.round(BATCHES * scale));
  const addresses = addressCorpus(CORPUS).cases.map(({ text }) => text);
  const documents = await documentCorpus({ seed: CORPUS.seed, countPerType: SIZE / 8 });
  const phones = await plainPhoneCorpus({ seed: CORPUS.seed, count: SIZE * 4 });
  const { document, phone } = COST_NAMES;
  const single = { path: `/v1/email/verify?email=${encodeURIComponent(addresses[0] ?? "")}`, body: null };
  const emails = workOf("/v1/email/batch", { emails: addresses.slice(0, SIZE) });
  const items = workOf("/v1/identity/batch", {
    items: documents.slice(0, SIZE).map(({ type, value }) => ({ type, value: value || "0" })),
  });
  const numbers = workOf("/v1/phone/batch", { phones: phones.slice(0, SIZE).map(({ text }) => text) });
  return {
    figures: [
      ...(await itemFigures(server, "single", single, Math.round(SINGLES * scale), 1)).bytes,
      ...(await itemFigures(server, "batch", emails, batches, SIZE)).bytes,
      ...all(await itemFigures(server, "document", items, batches, SIZE, document)),
      ...all(await itemFigures(server, "phone", numbers, batches, SIZE, phone)),
      ...(await newDomainFigures(server, batches)),
      ...(await jobFigures(server, Math.round(JOB_ROWS * scale), addresses)),
    ],
    targets: [],
  };
}

const all = ({ bytes, cpu }: { readonly bytes: readonly Figure[]; readonly cpu: readonly Figure[] }) => [
  ...cpu,
  ...bytes,
];

function workOf(path: string, body: object): Work {
  return { path, body: JSON.stringify(body) };
}

/** The same call `calls` times: CPU, bytes of one of its items on the wire, and what its charge takes of the disk. */
async function itemFigures(
  server: BenchServer,
  item: Item,
  work: Work,
  calls: number,
  itemsOfCall: number,
  scenario = "",
): Promise<{ readonly bytes: readonly Figure[]; readonly cpu: readonly Figure[] }> {
  const wire = await wireOf(server, work);
  const before = await metric(server, 'assay_database_bytes{kind="used"}');
  const { spent } = await spending(server, () => callRepeatedly(server, work, calls));
  const charged = (await metric(server, 'assay_database_bytes{kind="used"}')) - before;
  return {
    cpu: costFigures(scenario, spent, calls * itemsOfCall),
    bytes: byteFigures(item, {
      received: wire.received / itemsOfCall,
      sent: wire.sent / itemsOfCall,
      sentGzip: wire.sentGzip / itemsOfCall,
      charge: Math.max(0, charged) / (calls * itemsOfCall),
    }),
  };
}

function byteFigures(item: Item, bytes: Wire & { readonly charge: number }): Figure[] {
  const { received, sent, sentGzip, charge } = COST_NAMES;
  const name = COST_NAMES.item[item];
  return [
    factFigure(`${name}: ${received}`, "bytes", bytes.received),
    factFigure(`${name}: ${sent}`, "bytes", bytes.sent),
    factFigure(`${name}: ${sentGzip}`, "bytes", bytes.sentGzip),
    factFigure(`${name}: ${charge}`, "bytes", bytes.charge),
  ];
}

/** Batches of domains that nobody asked for before, each with one address, plain and deep. */
async function newDomainFigures(server: BenchServer, batches: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const deep of [false, true]) {
    const name = deep ? COST_NAMES.deepLookup : COST_NAMES.plainLookup;
    const before = await metric(server, "assay_dns_queries_total");
    const { spent } = await spending(server, async () => {
      for (let batch = 0; batch < batches; batch += 1) {
        const emails = Array.from({ length: SIZE }, (_, n) => coldAddress(`plan${deep}${batch}`, n));
        await call(server, workOf("/v1/email/batch", { emails, deep }));
      }
    });
    const queries = (await metric(server, "assay_dns_queries_total")) - before;
    figures.push(
      ...costFigures(name, spent, batches * SIZE),
      factFigure(`${name}: ${COST_NAMES.queries}`, "queries a domain", queries / (batches * SIZE)),
    );
  }
  return figures;
}

/** One job, from the first byte sent until its results are read: CPU, bytes on the wire, and what it takes of the disk. */
async function jobFigures(
  server: BenchServer,
  rows: number,
  addresses: readonly string[],
): Promise<Figure[]> {
  const client = createClient({ baseUrl: server.url, apiKey: server.key });
  const text = Array.from({ length: rows }, (_, row) => `r${row}${addresses[row % addresses.length]}`).join(
    "\n",
  );
  const before = await metric(server, 'assay_database_bytes{kind="used"}');
  let jobId = "";
  const { spent } = await spending(server, async () => {
    ({ job_id: jobId } = await client.createJob({ text }));
    while ((await client.job(jobId)).status !== "completed") await Bun.sleep(POLL_MS);
  });
  const kept = (await metric(server, 'assay_database_bytes{kind="used"}')) - before;
  const results = { path: `/v1/jobs/${jobId}/results?format=ndjson`, body: null };
  const wire = await wireOf(server, results);
  await client.deleteJob(jobId);
  const name = COST_NAMES.item.job;
  return [
    ...costFigures(COST_NAMES.jobRow, spent, rows),
    ...byteFigures("job", {
      received: text.length / rows,
      sent: wire.sent / rows,
      sentGzip: wire.sentGzip / rows,
      // Its charges are among the bytes that it keeps.
      charge: 0,
    }),
    factFigure(`${name}: ${COST_NAMES.kept}`, "bytes", Math.max(0, kept) / rows),
  ];
}

function factFigure(name: string, unit: string, value: number): Figure {
  return { name, group: "what plans count with", unit, better: "lower", value };
}

async function callRepeatedly(server: Aim, work: Work, calls: number): Promise<void> {
  const atATime = work.body === null ? SINGLES_AT_A_TIME : 1;
  let begun = 0;
  const caller = async () => {
    for (; begun < calls; ) {
      begun += 1;
      await call(server, work);
    }
  };
  await Promise.all(Array.from({ length: atATime }, caller));
}

async function call({ url, key }: Aim, { path, body }: Work): Promise<void> {
  const headers = { Authorization: `Bearer ${key}`, "Accept-Encoding": "identity" };
  const reply =
    body === null
      ? await fetch(url + path, { headers })
      : await fetch(url + path, {
          method: "POST",
          headers: { ...headers, "Content-Type": "application/json" },
          body,
        });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`);
}

/** Bytes of one call in both directions, heads included, plain and with gzip. */
async function wireOf(server: Aim, work: Work): Promise<Wire> {
  const plain = await exchange(server, work, "identity");
  const packed = await exchange(server, work, "gzip");
  return { ...plain, sentGzip: packed.sent };
}

async function exchange({ url, key }: Aim, { path, body }: Work, encoding: string) {
  const { hostname, port, host } = new URL(url);
  const head = [
    `${body === null ? "GET" : "POST"} ${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    `Accept-Encoding: ${encoding}`,
    "Connection: close",
    ...(body === null
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  const request = Buffer.from(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(Number(port), hostname);
  let sent = 0;
  let first = "";
  socket.on("data", (part: Uint8Array) => {
    if (first.length < STATUS_LINE.length) first += Buffer.from(part).toString("latin1");
    sent += part.byteLength;
  });
  socket.on("error", reject);
  socket.on("end", () =>
    first.startsWith(STATUS_LINE) ? resolve(sent) : reject(new Error(`${path}: ${first.slice(0, 300)}`)),
  );
  socket.write(request);
  return { received: request.byteLength, sent: await promise };
}

async function metric({ url }: Aim, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`The server has no metric ${name}`);
  return Number(line.slice(name.length + 1));
}
