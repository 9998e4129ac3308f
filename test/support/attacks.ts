import { gzipSync, zstdCompressSync } from "node:zlib";
import { FAULT_ZONE, until } from "./caller.ts";
import { openRaw, openStalled, type RawConnection } from "./raw-http.ts";
import { type BeginAttack, callOn, type SharedServer } from "./tenants.ts";

/** What other accounts do to a server that a victim shares with them. */
export type Attack = {
  /** As it is called in the tables of src/docs/faults.md. */
  readonly name: string;
  /** Signs up who attacks, and returns how to begin. */
  readonly prepare: (shared: SharedServer) => Promise<BeginAttack>;
};

const BODY_BYTES = 33_000_000;

const NINE = [..."abcdefghi"].map((letter) => `include:${letter}.fan.com`).join(" ");

/** What the attacks ask for: domains that are silent, and domains whose SPF records name nine more each. */
export const ATTACK_ZONE = `
${FAULT_ZONE}
*.silent.com  !silent
*.fan.com     MX 10 mx.good.com
*.fan.com     0 TXT "v=spf1 ${NINE} -all"
`;

export const ATTACKS: readonly Attack[] = [
  { name: "one item of 33 MB, again and again", prepare: sendLargeItems },
  { name: "batches that break their threads", prepare: breakThreads },
  { name: "batches of one that wait for silent domains", prepare: waitForSilence },
  { name: "batches of thousands of silent domains", prepare: flood },
  { name: "deep checks of SPF records that fan out", prepare: fanOut },
  { name: "uploads that trickle", prepare: trickle },
  // What it fills stays full.
  { name: "keyed calls that fill the kept replies", prepare: fillKeptReplies },
];

/** Those that take longer to measure than the gate has patience for. */
export const FURTHER_ATTACKS: readonly Attack[] = [
  { name: "bodies that inflate past their limit", prepare: sendBombs },
  { name: "sixty bodies that inflate at once", prepare: inflateMany },
  { name: "large batches that nobody reads", prepare: leaveUnread },
  { name: "batches of sixty free accounts that wait for silent domains", prepare: fillPlaces },
  { name: "bodies that nest, and connections that never end their heads", prepare: nestAndStall },
];

const accounts = ({ caller }: SharedServer, count: number, plan: string) =>
  Promise.all(Array.from({ length: count }, () => caller.signUp(plan)));

const mark = () => crypto.randomUUID().slice(0, 8);

async function metricOf({ caller }: SharedServer, name: string): Promise<number> {
  const text = await (await caller.call("/metrics")).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

type SentBatch = { readonly key: string; readonly path?: string; readonly body: object };

/** Batches of a body each, sent at once and given up at the end. */
function sendAll({ caller }: SharedServer, batches: readonly SentBatch[]): () => Promise<unknown> {
  const gone = new AbortController();
  const running = batches.map(({ key, path = "/v1/email/batch", body }) =>
    caller
      .call(path, { key, body, signal: gone.signal })
      .then((reply) => reply.arrayBuffer())
      .catch(() => undefined),
  );
  return async () => {
    gone.abort();
    await Promise.all(running);
  };
}

async function sendLargeItems(shared: SharedServer): Promise<BeginAttack> {
  const [key = ""] = await accounts(shared, 1, "scale");
  const body = new TextEncoder().encode("\u0661".repeat(BODY_BYTES / 2));
  const headers = { "Content-Type": "text/plain" };
  return async () => callOn(1, () => shared.caller.call("/v1/email/batch", { key, body, headers }));
}

async function fillKeptReplies(shared: SharedServer): Promise<BeginAttack> {
  const [key = ""] = await accounts(shared, 1, "scale");
  // Of noise, which nothing compresses, and too long to be looked at: a reply repeats it all the same.
  const noise = Array.from({ length: 400 }, () =>
    Buffer.from(crypto.getRandomValues(new Uint8Array(3_750))).toString("base64url"),
  ).join("\n");
  const send = () =>
    shared.caller.call("/v1/email/batch", {
      key,
      body: noise,
      headers: { "Content-Type": "text/plain", "Idempotency-Key": mark() },
    });
  return async () => {
    let isFull = false;
    const end = callOn(2, async () => {
      const reply = await send();
      isFull ||= reply.status === 503;
      return reply;
    });
    await until("refusal", () => isFull, 60_000);
    return end;
  };
}

async function breakThreads(shared: SharedServer): Promise<BeginAttack> {
  const [key = ""] = await accounts(shared, 1, "scale");
  const emails = Array.from({ length: 200 }, (_, at) =>
    at === 7 ? "worker-loops@good.com" : `a${at}@good.com`,
  );
  const batches: readonly SentBatch[] = [
    { key, body: { emails } },
    { key, path: "/v1/phone/batch", body: { phones: emails } },
    { key, path: "/v1/identity/batch", body: { items: emails.map((value) => ({ type: "iban", value })) } },
  ];
  const failures = () => metricOf(shared, 'assay_pool_tasks_total{outcome="failed"}');
  return async () => {
    const before = await failures();
    const end = sendAll(shared, [...batches, ...batches]);
    // The first second shows what they are.
    await until("failure", async () => (await failures()) > before, 15_000);
    return end;
  };
}

async function waitForSilence(shared: SharedServer): Promise<BeginAttack> {
  const keys = await accounts(shared, 4, "free");
  return async () => {
    const end = callOn(160, (number) =>
      shared.caller.call("/v1/email/batch", {
        key: keys[number % keys.length] ?? "",
        body: { emails: [`a@n${number}.${mark()}.silent.com`] },
      }),
    );
    await until("batches under way", async () => (await metricOf(shared, "assay_batches_under_way")) >= 40);
    return end;
  };
}

async function flood(shared: SharedServer): Promise<BeginAttack> {
  const keys = await accounts(shared, 2, "scale");
  return async () => {
    const batches = Array.from({ length: 16 }, (_, batch) => ({
      key: keys[batch % keys.length] ?? "",
      body: { emails: Array.from({ length: 3000 }, (__, at) => `a@b${batch}n${at}.${mark()}.silent.com`) },
    }));
    const end = sendAll(shared, batches);
    await until("look-ups under way", async () => (await metricOf(shared, "assay_dns_in_flight")) >= 150);
    return end;
  };
}

/** Each of the domains has an SPF record that names nine others, which are never known. */
async function fanOut(shared: SharedServer): Promise<BeginAttack> {
  const keys = await accounts(shared, 2, "scale");
  const domains = 200;
  return async () => {
    const end = callOn(8, (number) => {
      const emails = Array.from({ length: domains }, (_, at) => `a@n${at}.${mark()}.fan.com`);
      return shared.caller.call("/v1/email/batch", {
        key: keys[number % keys.length] ?? "",
        body: { emails, deep: true },
      });
    });
    await until("look-ups under way", async () => (await metricOf(shared, "assay_dns_in_flight")) >= 100);
    return end;
  };
}

async function fillPlaces(shared: SharedServer): Promise<BeginAttack> {
  const keys = await accounts(shared, 60, "free");
  return async () => {
    const end = callOn(keys.length * 4, (number) => {
      const domain = `${mark()}.silent.com`;
      const emails = Array.from({ length: 100 }, (_, at) => `a@n${at}.${domain}`);
      return shared.caller.call("/v1/email/batch", {
        key: keys[number % keys.length] ?? "",
        body: { emails },
      });
    });
    await until("batches under way", async () => (await metricOf(shared, "assay_batches_under_way")) >= 100);
    return end;
  };
}

/** Many more bytes than any plan may send, and a body of nothing but the smallest frames. */
async function sendBombs(shared: SharedServer): Promise<BeginAttack> {
  const [key = ""] = await accounts(shared, 1, "scale");
  const bytes = Buffer.alloc(BODY_BYTES * 4, "a@b.com\n");
  // A skippable frame (RFC 8878) without content.
  const frames = Buffer.alloc(BODY_BYTES, Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0));
  const bodies = [
    { encoding: "gzip", body: gzipSync(bytes) },
    { encoding: "zstd", body: zstdCompressSync(bytes) },
    { encoding: "zstd", body: frames },
  ] as const;
  return async () =>
    callOn(bodies.length, (number) => {
      const { encoding, body } = bodies[number % bodies.length] ?? bodies[0];
      const type = { "Content-Type": "text/plain", "Content-Encoding": encoding };
      const headers = number % 2 === 0 ? type : { ...type, "Idempotency-Key": mark() };
      return shared.caller.call("/v1/email/batch", { key, body: new Uint8Array(body), headers });
    });
}

async function inflateMany(shared: SharedServer): Promise<BeginAttack> {
  const [key = ""] = await accounts(shared, 1, "scale");
  const lines = Array.from({ length: 100_000 }, (_, at) => `${"a".repeat(300)}${at}@good.com`).join("\n");
  const body = gzipSync(lines);
  const headers = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
  return async () => callOn(60, () => shared.caller.call("/v1/email/batch", { key, body, headers }));
}

/** Each of four accounts leaves as many replies unread as it can have under way. */
async function leaveUnread(shared: SharedServer): Promise<BeginAttack> {
  const keys = await accounts(shared, 4, "scale");
  const body = Array.from({ length: 100_000 }, (_, at) => `a${at}@good.com`).join("\n");
  const underWay = () => metricOf(shared, "assay_batches_under_way");
  return async () => {
    const readers = Array.from({ length: 240 }, (_, number) =>
      openStalled(shared.server.url, headOf(keys[number % keys.length] ?? "", body.length) + body, 1),
    );
    await until("batches under way", async () => (await underWay()) >= 64, 30_000);
    return async () => {
      for (const reader of readers) reader[Symbol.dispose]();
      await until("end of the batches", async () => (await underWay()) === 0, 30_000);
    };
  };
}

function headOf(key: string, bytes: number): string {
  return [
    "POST /v1/email/batch HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: text/plain",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${bytes}`,
    "\r\n",
  ].join("\r\n");
}

/** Batches of nothing but brackets, and hundreds of connections that send a header a second. */
async function nestAndStall({ caller, server }: SharedServer): Promise<BeginAttack> {
  const key = await caller.signUp("scale");
  const body = new Uint8Array(BODY_BYTES).fill(0x5b);
  return async () => {
    const connections: RawConnection[] = [];
    while (connections.length < 500) connections.push(await openRaw(server.url));
    const write = () => {
      for (const connection of connections) connection.write(`X-${mark()}: ${"a".repeat(50)}\r\n`);
    };
    for (const connection of connections) connection.write("POST /v1/email/batch HTTP/1.1\r\nHost: a\r\n");
    const writing = setInterval(write, 1000);
    const endCalls = callOn(2, () => caller.call("/v1/email/batch", { key, body }));
    return async () => {
      clearInterval(writing);
      for (const connection of connections) connection[Symbol.dispose]();
      await endCalls();
    };
  };
}

async function trickle({ caller, server }: SharedServer): Promise<BeginAttack> {
  const keys = await Promise.all([caller.signUp("scale"), caller.signUp("scale")]);
  return async () => {
    const connections: RawConnection[] = [];
    for (let number = 0; number < 9; number += 1) {
      const connection = await openRaw(server.url);
      connections.push(connection);
      connection.write(headOf(keys[number % 2] ?? "", BODY_BYTES));
      await connection.writeAll(new Uint8Array(BODY_BYTES - 1000).fill(0x61));
    }
    return async () => {
      for (const connection of connections) connection[Symbol.dispose]();
    };
  };
}
