import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { backupDatabase } from "../../src/store/sqlite/data-dir/backup.ts";
import { callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { startProcess, temporaryFolder } from "../support/process.ts";

setDefaultTimeout(120_000);

const MEGABYTE = 1_048_576;

async function startServer(settings: { readonly [name: string]: string }) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder("kept-replies"));
  const dns = await startDns(FAULT_ZONE);
  stack.defer(() => dns[Symbol.asyncDispose]());
  const dataDir = join(folder.path, "data");
  const environment = { DNS_SERVERS: dns.server.address, SIGNUPS_PER_MINUTE: "1000" };
  const server = await startProcess({ ...environment, DATA_DIR: dataDir, ...settings });
  stack.defer(() => server[Symbol.asyncDispose]());
  return Object.assign(stack, { folder, dataDir, server, caller: callerOf(server.url) });
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const keyed = (key: string, name: string) => ({ key, headers: { "Idempotency-Key": name } });

test("no file of the data directory or of a backup holds an address, an IBAN, a number or a card of a call", async () => {
  await using started = await startServer({});
  const { caller, dataDir, folder } = started;
  const key = await caller.signUp();
  const secrets = ["jane.doe.4711", "DE89370400440532013000", "4242424242424242", "+14155552671"];
  const [address, iban, card, phone] = [`${secrets[0]}@good.com`, ...secrets.slice(1)];
  const calls: [path: string, body: object][] = [
    ["/v1/email/verify", { email: address }],
    ["/v1/email/batch", { emails: [address, "bob@good.com"] }],
    ["/v1/identity/validate", { type: "iban", value: iban }],
    ["/v1/identity/batch", { items: [{ value: iban }, { type: "card", value: card }] }],
    ["/v1/phone/validate", { phone }],
    ["/v1/phone/batch", { phones: [phone] }],
  ];
  const replay = async () => {
    const replies = [];
    for (const [index, [path, body]] of calls.entries()) {
      const reply = await caller.call(path, { ...keyed(key, `${index} ${address}`), body });
      expect(reply.status).toBe(200);
      replies.push({ text: await reply.text(), replayed: reply.headers.get("Idempotent-Replayed") });
    }
    return replies;
  };
  const first = await replay();
  expect(first.map(({ replayed }) => replayed)).toEqual(calls.map(() => null));
  expect(first[0]?.text).toContain(address);
  const second = await replay();
  expect(second).toEqual(first.map(({ text }) => ({ text, replayed: "true" })));

  backupDatabase({ dataDir, toPath: join(folder.path, "backup.db") });
  await until(
    "end of the directory's sync",
    async () => (await caller.call("/v1/directory?limit=1")).status === 200,
  );
  const files = filesOf(folder.path);
  expect(files.filter((file) => file.includes("idempotency"))).toHaveLength(3);
  for (const file of files) {
    const bytes = readFileSync(file);
    const found = [...secrets, key].filter((secret) => bytes.includes(secret));
    expect({ file, found }).toEqual({ file, found: [] });
  }
});

test("every file is readable by its owner alone, whatever the umask and the folder", async () => {
  const before = process.umask(0);
  try {
    await using started = await startServer({});
    const { caller, dataDir } = started;
    const key = await caller.signUp();
    await caller.call("/v1/email/batch", { ...keyed(key, "k"), body: { emails: ["ann@good.com"] } });
    // What is written beside a file for a moment may have its name by now.
    const modeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    const loose = filesOf(dataDir).filter((file) => (modeOf(file) & 0o077) !== 0);
    expect(loose).toEqual([]);
    for (const folder of [".", "idempotency", "directory"]) {
      expect(statSync(join(dataDir, folder)).mode & 0o777).toBe(0o700);
    }
  } finally {
    process.umask(before);
  }
});

/** Sends addresses as lines of text, under an Idempotency-Key. */
async function sendLines(url: string, key: string, name: string, text: string): Promise<number> {
  const headers = { "Idempotency-Key": name, "Content-Type": "text/plain", Authorization: `Bearer ${key}` };
  const reply = await fetch(`${url}/v1/email/batch`, { method: "POST", headers, body: text });
  await reply.arrayBuffer();
  return reply.status;
}

test("22 large keyed calls of one account do not fill the store, and no keyed call of another account is refused", async () => {
  await using started = await startServer({ KEPT_REPLIES_BYTES_MAX: `${4 * MEGABYTE}` });
  const { caller, dataDir, server } = started;
  const [attacker, victim] = [await caller.signUp("scale"), await caller.signUp("free")];
  const statuses: number[] = [];
  // Of control characters, which are escaped; and of noise, which nothing compresses.
  const line = "\u0001".repeat(100_000);
  const noise = (size: number) =>
    Array.from(
      { length: size },
      () => `${Buffer.from(crypto.getRandomValues(new Uint8Array(90))).toString("hex")}@x`,
    );
  for (let call = 0; call < 22; call += 1) {
    const text = call % 2 === 0 ? Array(10).fill(line).join("\n") : noise(5_000).join("\n");
    statuses.push(await sendLines(server.url, attacker, `a${call}`, text));
    const reply = await caller.call("/v1/email/batch", {
      ...keyed(victim, `v${call}`),
      body: { emails: ["ann@good.com"] },
    });
    await reply.arrayBuffer();
    expect(reply.status).toBe(200);
  }
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const bytes = filesOf(join(dataDir, "idempotency")).reduce((sum, file) => sum + sizeOf(file), 0);
  process.stdout.write(
    `${statuses.filter((status) => status === 503).length} of 22 refused, ${bytes} bytes kept\n`,
  );
  expect(bytes).toBeLessThan(4 * MEGABYTE);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

test("a free account's batch body is bounded by its largest batch", async () => {
  await using started = await startServer({});
  const { caller, server } = started;
  const key = await caller.signUp("free");
  expect(await sendLines(server.url, key, "large", "\u0001".repeat(270_337))).toBe(413);
  const emails = Array.from({ length: 100 }, (_, at) => `${"a".repeat(60)}${at}@good.com`);
  const escaped = emails.map((email) =>
    email.replace(/./g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  );
  const body = `{"emails":["${escaped.join('","')}"]}`;
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const reply = await fetch(`${server.url}/v1/email/batch`, { method: "POST", headers, body });
  expect(reply.status).toBe(200);
});
