import { join } from "node:path";
import sample from "../../src/directory/data/sample.txt" with { type: "text" };
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { jsonOf } from "./json.ts";
import { temporaryFolder } from "./process.ts";
import { startTestServer, type TestServer } from "./server.ts";

/** An account that has worked for six weeks, and what the console shows of it in each view. */
export type ConsoleScene = AsyncDisposable & {
  readonly server: TestServer;
  readonly key: string;
  readonly views: readonly SceneView[];
};

export type SceneView = {
  /** Of its picture. */
  readonly name: string;
  /** The fragment of its address. */
  readonly place: string;
  /** What it shows once it is all there. */
  readonly shown: string;
};

const DAY_MS = 86_400_000;
const DAYS = 42;
const ROWS = 1_200;
const GIVEN =
  "anna ben carla daniel elena frank greta hans irene joao karin lucas maria nina oscar paula".split(" ");
const FAMILY = "smith mueller garcia rossi silva kowalski jensen dubois santos fischer costa moreau".split(
  " ",
);
const DOMAINS = [
  ..."good.com gmail.com gmail.com good.com a.many.com b.many.com".split(" "),
  ..."gmail.com null.com good.com implicit.com gone.many.org gmail.com".split(" "),
];

/** Starts a server whose clock went through these weeks, with keys, a webhook, lists, and an invoice of the month before. */
export async function startConsoleScene(): Promise<ConsoleScene> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder("console-scene"));
  const dataDir = folder.path;
  const directoryFile = join(dataDir, "listings.json");
  await Bun.write(directoryFile, listingsOf(FIRST_PAYEE));
  const key = await workForWeeks(dataDir, directoryFile);
  await Bun.write(directoryFile, listingsOf(NEXT_PAYEE));
  const receiver = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("thanks") });
  stack.defer(() => receiver.stop(true));
  // A start issues the invoices that are due.
  const server = stack.use(
    await startTestServer({
      dataDir,
      environment: { WEBHOOK_ALLOW_PRIVATE: "true", DIRECTORY_FILE: directoryFile },
    }),
  );
  const call = <Body>(path: string, body: unknown) => server.call(path, { key, body }).then(jsonOf<Body>);
  const { webhook_id } = await call<{ webhook_id: string }>("/v1/webhooks", {
    url: `http://127.0.0.1:${receiver.port}/hooks/assay`,
    description: "Billing",
  });
  await call("/v1/account/keys", { name: "Newsletter", scopes: ["verify"] });
  await call("/v1/account/keys", { name: "Reports", scopes: ["read"] });
  const csv = (name: string, from: number) =>
    server
      .call(`/v1/jobs?name=${name}`, { key, body: listOf(from), headers: { "Content-Type": "text/csv" } })
      .then(jsonOf<{ job_id: string }>);
  await csv("customers-2026.csv", 50_000);
  const { job_id } = await csv("people.csv", 0);
  const { listings } = await jsonOf<{ listings: { host: string }[] }>(await server.call("/v1/directory"));
  const { data: invoices } = await jsonOf<{ data: { invoice_id: string }[] }>(
    await server.call("/v1/account/invoices", { key }),
  );
  const views = [
    { name: "overview", place: "overview", shown: "Last 30 days" },
    { name: "try", place: "try", shown: "Email address" },
    { name: "lists", place: "lists", shown: "customers-2026.csv" },
    { name: "list", place: `lists/${job_id}`, shown: `Rows 1 to 14 of ${ROWS.toLocaleString("en-US")}` },
    { name: "keys", place: "keys", shown: "Newsletter" },
    { name: "webhooks", place: "webhooks", shown: "Billing" },
    { name: "webhook", place: `webhooks/${webhook_id}`, shown: "Delivered" },
    { name: "plan", place: "plan", shown: "This month so far" },
    { name: "invoice", place: `plan/${invoices[0]?.invoice_id}`, shown: "Total" },
    { name: "directory", place: "directory", shown: "services" },
    { name: "listing", place: `directory/${listings[0]?.host}`, shown: "Evidence" },
  ];
  const opened = stack.move();
  return { server, key, views, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Signs up six weeks ago and calls on each day since. Returns the key. */
async function workForWeeks(dataDir: string, directoryFile: string): Promise<string> {
  let offsetMs = -DAYS * DAY_MS;
  const clock: Clock = { now: () => systemClock.now() + offsetMs, monotonic: systemClock.monotonic };
  await using server = await startTestServer({
    clock,
    dataDir,
    environment: { DIRECTORY_FILE: directoryFile },
  });
  const key = await server.signUp("growth");
  const call = (path: string, body: unknown) =>
    server.call(path, { key, body }).then((reply) => reply.text());
  for (let day = 0; day <= DAYS; day++) {
    offsetMs = (day - DAYS) * DAY_MS;
    await call("/v1/email/batch", {
      emails: addresses(day * 31, 120 + ((day * 37) % 60) * (day % 7 < 5 ? 25 : 5)),
    });
    if (day % 3 === 0) await call("/v1/phone/batch", { phones: ["+5511961234567", "+442079460000"] });
    if (day % 4 === 0) await call("/v1/identity/batch", { items: [{ value: "DE89370400440532013000" }] });
  }
  return key;
}

const FIRST_PAYEE = "0x7a16ff8270133f063aab6c9977183d9e72835428";
const NEXT_PAYEE = "0xc0ffee254729296a45a3885639ac7e10f9d54979";

/** The bundled services; the first of them is paid at this address. */
function listingsOf(payee: string): string {
  const { source, listings } = JSON.parse(sample) as { source: string; listings: SampleListing[] };
  const [first, ...rest] = listings;
  if (first === undefined) throw new Error("The sample has no listings");
  return JSON.stringify({
    source,
    listings: [{ ...first, evidence: { ...first.evidence, pay_to: payee } }, ...rest],
  });
}

type SampleListing = { readonly evidence: { readonly pay_to: string } };

function addresses(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, at) => addressOf(from + at));
}

function addressOf(number: number): string {
  const [given, family] = [GIVEN[(number * 7) % GIVEN.length], FAMILY[(number * 5) % FAMILY.length]];
  return `${given}.${family}${Math.floor(number / 12)}@${DOMAINS[number % DOMAINS.length]}`;
}

/** One in ten repeats the row before. */
function listOf(from: number): string {
  const rows = Array.from({ length: ROWS }, (_, at) => {
    const number = from + (at % 10 === 9 ? at - 1 : at);
    return `Customer ${at + 1},${addressOf(number)}`;
  });
  return `name,email\n${rows.join("\n")}\n`;
}
