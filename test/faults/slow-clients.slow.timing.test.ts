import { expect, setDefaultTimeout, test } from "bun:test";
import { quantile, until } from "../support/caller.ts";
import { startFileFaultServer } from "../support/fault-server.ts";
import { openRaw, type RawConnection } from "../support/raw-http.ts";

setDefaultTimeout(120_000);

const IDLE_CONNECTIONS = 5000;
/** The server looks after its connections every few seconds, so the limit of 10 s shows a little later. */
const CLOSED_AFTER_MS_MAX = 25_000;

const { server, caller, key } = await startFileFaultServer("slow-clients", {
  READER_STALL_SECONDS: "10",
});

const head = (...lines: string[]) => `${["Host: 127.0.0.1", ...lines].join("\r\n")}\r\n`;

/** What slow clients begin with; then they send a byte a second. */
const beginnings = (): { readonly [name: string]: string } => ({
  "nothing at all": "",
  "the first half of a request line": "GET /v1/pl",
  "headers without an end": `GET /v1/plans HTTP/1.1\r\n${head()}X-Slow: `,
  "an unauthenticated body": `POST /v1/email/verify HTTP/1.1\r\n${head("Content-Type: application/json", "Content-Length: 5000")}\r\n{`,
  "the body of a single check": `POST /v1/email/verify HTTP/1.1\r\n${head(`Authorization: Bearer ${key}`, "Content-Type: application/json", "Content-Length: 5000")}\r\n{`,
  "the body of a batch": `POST /v1/email/batch HTTP/1.1\r\n${head(`Authorization: Bearer ${key}`, "Content-Type: application/json", "Content-Length: 5000")}\r\n{`,
  "the chunked body of a batch": `POST /v1/email/batch HTTP/1.1\r\n${head(`Authorization: Bearer ${key}`, "Content-Type: text/plain", "Transfer-Encoding: chunked")}\r\n1\r\na\r\n`,
  "a reply, and then nothing": `GET /healthz HTTP/1.1\r\n${head()}\r\n`,
  "a batch, and then nothing": `POST /v1/email/batch HTTP/1.1\r\n${head(`Authorization: Bearer ${key}`, "Content-Type: application/json", "Content-Length: 26")}\r\n{"emails":["a@good.com"]} `,
});

function dripByte(name: string, connection: RawConnection): void {
  if (name.includes("nothing") || connection.isClosed()) return;
  connection.write(name.includes("chunked") ? "1\r\na\r\n" : "a");
}

/** As many idle connections as the limits on open files let both ends have. */
function idleConnections(): number {
  const limit = Number(new TextDecoder().decode(Bun.spawnSync(["sh", "-c", "ulimit -n"]).stdout));
  return Number.isNaN(limit) ? IDLE_CONNECTIONS : Math.min(IDLE_CONNECTIONS, limit - 500);
}

async function openFiles(): Promise<number> {
  const files = new Bun.Glob("*").scan({ cwd: `/proc/${server.child.pid}/fd`, onlyFiles: false });
  return (await Array.fromAsync(files)).length;
}

/** Calls one after the other until stopped; the times they took. */
async function callNormally(done: () => boolean): Promise<readonly number[]> {
  const times: number[] = [];
  for (let count = 0; !done(); count += 1) {
    const startedMs = performance.now();
    const reply = await caller.call(`/v1/email/verify?email=a${count}%40good.com`, { key });
    expect(reply.status).toBe(200);
    await reply.text();
    times.push(performance.now() - startedMs);
    await Bun.sleep(10);
  }
  return times;
}

/** Sends a batch of text at 40 KB a second, for longer than silence may last. */
async function uploadSteadily(seconds: number): Promise<string> {
  const line = `${"a".repeat(30)}@good.com\n`;
  const lines = Math.floor(10_000 / line.length);
  const part = line.repeat(lines);
  using connection = await openRaw(server.url);
  const length = `Content-Length: ${part.length * seconds * 4}`;
  connection.write(
    `POST /v1/email/batch HTTP/1.1\r\n${head(`Authorization: Bearer ${key}`, "Content-Type: text/plain", "Connection: close", length)}\r\n`,
  );
  for (let count = 0; count < seconds * 4; count += 1) {
    connection.write(part);
    await Bun.sleep(250);
  }
  // Awaited here: the connection is disposed of as soon as this function ends.
  return await connection.closed;
}

test("slow and silent connections are closed in time; until then other calls keep their speed", async () => {
  const slowest = await openEach(Object.entries(beginnings()));
  const startedMs = performance.now();
  const count = idleConnections();
  const idle: RawConnection[] = [];
  while (idle.length < count) {
    idle.push(...(await Promise.all(Array.from({ length: 250 }, () => openRaw(server.url)))));
  }
  const openedMs = performance.now() - startedMs;
  await until("server with all connections", async () => (await openFiles()) > count);

  const all = [...idle, ...slowest.map(({ connection }) => connection)];
  const isOver = () => all.every((connection) => connection.isClosed());
  const dripping = setInterval(() => {
    for (const { name, connection } of slowest) dripByte(name, connection);
  }, 1000);
  const [times, uploaded] = await Promise.all([
    callNormally(isOver),
    uploadSteadily(14),
    until("end of all slow connections", isOver, CLOSED_AFTER_MS_MAX),
  ]).finally(() => {
    clearInterval(dripping);
    for (const connection of all) connection[Symbol.dispose]();
  });
  process.stdout.write(
    `${count} idle connections opened in ${Math.round(openedMs)} ms, all closed after ` +
      `${Math.round(performance.now() - startedMs)} ms; beside them ${times.length} calls, ` +
      `p99 ${quantile(times, 0.99).toFixed(1)} ms\n`,
  );
  expect(quantile(times, 0.99)).toBeLessThan(250);
  expect(uploaded).toStartWith("HTTP/1.1 200 OK\r\n");
  expect(uploaded).toContain('"duplicates":');
  const answers = Object.fromEntries(
    slowest.map(({ name, connection }) => [name, connection.received().slice(0, 12)]),
  );
  expect(answers).toEqual({
    "nothing at all": "",
    "the first half of a request line": "",
    "headers without an end": "",
    "an unauthenticated body": "HTTP/1.1 401",
    "the body of a single check": "",
    "the body of a batch": "",
    "the chunked body of a batch": "",
    "a reply, and then nothing": "HTTP/1.1 200",
    "a batch, and then nothing": "HTTP/1.1 200",
  });
  await until("closed file of each connection", async () => (await openFiles()) < 200);
  // What the slow ones began was neither counted nor charged; the batch of one was.
  expect(await caller.unitsOf(key)).toBe(times.length + 1 + 1);
  expect(server.logged()).toEqual([]);
});

async function openEach(texts: readonly (readonly [name: string, text: string])[]) {
  return Promise.all(
    texts.map(async ([name, text]) => {
      const connection = await openRaw(server.url);
      connection.write(text);
      return { name, connection };
    }),
  );
}
