import { until } from "./caller.ts";
import { openRaw, type RawConnection } from "./raw-http.ts";
import { type BeginAttack, callOn, type SharedServer } from "./tenants.ts";

/** What other accounts do to a server that a victim shares with them. */
export type Attack = {
  /** As it is called in the tables of src/docs/faults.md. */
  readonly name: string;
  /** Signs up who attacks, and returns how to begin. */
  readonly prepare: (shared: SharedServer) => Promise<BeginAttack>;
};

const BODY_BYTES = 33_000_000;

export const ATTACKS: readonly Attack[] = [
  { name: "one item of 33 MB, again and again", prepare: sendLargeItems },
  { name: "batches that break their threads", prepare: breakThreads },
  { name: "batches of one that wait for silent domains", prepare: waitForSilence },
  { name: "batches of thousands of silent domains", prepare: flood },
  { name: "uploads that trickle", prepare: trickle },
  // What it fills stays full.
  { name: "keyed calls that fill the kept replies", prepare: fillKeptReplies },
];

const accounts = ({ caller }: SharedServer, count: number, plan: string) =>
  Promise.all(Array.from({ length: count }, () => caller.signUp(plan)));

const mark = () => crypto.randomUUID().slice(0, 8);

async function metricOf({ caller }: SharedServer, name: string): Promise<number> {
  const text = await (await caller.call("/metrics")).text();
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

/** Batches of a body each, sent at once and given up at the end. */
function sendAll(
  { caller }: SharedServer,
  batches: readonly { readonly key: string; readonly emails: readonly string[] }[],
): () => Promise<unknown> {
  const gone = new AbortController();
  const running = batches.map(({ key, emails }) =>
    caller
      .call("/v1/email/batch", { key, body: { emails }, signal: gone.signal })
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
  // Of noise, which nothing compresses.
  const noise = Array.from({ length: 20_000 }, () => {
    const bytes = crypto.getRandomValues(new Uint8Array(40));
    return `${Buffer.from(bytes).toString("hex")}@x`;
  }).join("\n");
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
  const failures = () => metricOf(shared, 'assay_pool_tasks{state="failed"}');
  return async () => {
    const before = await failures();
    const end = sendAll(shared, new Array(6).fill({ key, emails }));
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
      emails: Array.from({ length: 3000 }, (__, at) => `a@b${batch}n${at}.${mark()}.silent.com`),
    }));
    const end = sendAll(shared, batches);
    await until("look-ups under way", async () => (await metricOf(shared, "assay_dns_in_flight")) >= 200);
    return end;
  };
}

async function trickle({ caller, server }: SharedServer): Promise<BeginAttack> {
  const keys = await Promise.all([caller.signUp("scale"), caller.signUp("scale")]);
  return async () => {
    const connections: RawConnection[] = [];
    for (let number = 0; number < 9; number += 1) {
      const connection = await openRaw(server.url);
      connections.push(connection);
      connection.write(
        [
          "POST /v1/email/batch HTTP/1.1",
          "Host: 127.0.0.1",
          "Content-Type: text/plain",
          `Authorization: Bearer ${keys[number % 2]}`,
          `Content-Length: ${BODY_BYTES}`,
          "\r\n",
        ].join("\r\n"),
      );
      await connection.writeAll(new Uint8Array(BODY_BYTES - 1000).fill(0x61));
    }
    return async () => {
      for (const connection of connections) connection[Symbol.dispose]();
    };
  };
}
