import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callerOf, FAULT_ZONE, until } from "../support/caller.ts";
import { startDns } from "../support/dns-server.ts";
import { jsonOf } from "../support/json.ts";
import { failedStart, startProcess, temporaryFolder } from "../support/process.ts";
import { refusalOf } from "../support/server.ts";
import { canDenyWrites, canMountDisks, mountSmallDisk, readOnlyFolder } from "../support/small-disk.ts";

setDefaultTimeout(120_000);

/** A start that ends with exit code 1 and one line for the operator, which it returns. */
async function refusedStart(dataDir: string): Promise<string> {
  const { said, exitCode } = await failedStart({ DATA_DIR: dataDir });
  expect(exitCode).toBe(1);
  expect(said).toMatch(/^[A-Z][^\n]+\.\n$/);
  expect(said).not.toContain("    at ");
  return said;
}

/** A data directory in which an account was charged once, and the key of that account. */
async function usedDataDir(dataDir: string, dnsServers: string): Promise<string> {
  const server = await startProcess({ DATA_DIR: dataDir, DNS_SERVERS: dnsServers });
  const { signUp, call } = callerOf(server.url);
  const key = await signUp();
  expect((await call("/v1/phone/validate?phone=%2B442079460000", { key })).status).toBe(200);
  expect(await server.end("SIGTERM")).toBe(0);
  return key;
}

describe("a start", () => {
  test("makes a DATA_DIR that is missing, for its owner alone", async () => {
    using folder = temporaryFolder("data-dir");
    const dataDir = join(folder.path, "a", "b");
    await using server = await startProcess({ DATA_DIR: dataDir });
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  test("with a DATA_DIR that cannot be made says so in one sentence and exits with 1", async () => {
    using folder = temporaryFolder("data-dir");
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    const said = await refusedStart(join(file, "data"));
    expect(said).toContain(`The data directory ${join(file, "data")} cannot be made`);
    expect(said).toContain("its folder is a file");
    expect(said).toContain("Set DATA_DIR");
    expect(await refusedStart(file)).toContain(`The data directory ${file} cannot be made (it is a file)`);
  });

  test.skipIf(!canDenyWrites)(
    "with a DATA_DIR that cannot be written says so in one sentence and exits with 1",
    async () => {
      using folder = readOnlyFolder();
      const said = await refusedStart(folder.path);
      expect(said).toContain(`The data directory ${folder.path} cannot be written`);
    },
  );

  test.skipIf(!canMountDisks)(
    "on a full disk asks for space, and does not call the database damaged",
    async () => {
      await using dns = await startDns(FAULT_ZONE);
      using disk = mountSmallDisk(8);
      disk.fill();
      expect(await refusedStart(disk.path)).toContain("space");
      disk.free();
      const key = await usedDataDir(disk.path, dns.server.address);
      disk.fill();
      const said = await refusedStart(disk.path);
      expect(said).toContain("space");
      expect(said).not.toContain("damaged");
      disk.free();
      await using server = await startProcess({ DATA_DIR: disk.path, DNS_SERVERS: dns.server.address });
      expect(await callerOf(server.url).unitsOf(key)).toBe(1);
    },
  );

  test("on the DATA_DIR of a running server is refused, and that server goes on", async () => {
    await using dns = await startDns(FAULT_ZONE);
    using folder = temporaryFolder("data-dir");
    await using server = await startProcess({ DATA_DIR: folder.path, DNS_SERVERS: dns.server.address });
    const { signUp, call, unitsOf } = callerOf(server.url);
    const key = await signUp();
    expect(await refusedStart(folder.path)).toContain("Another process is using the data directory");
    expect((await call("/v1/phone/validate?phone=%2B442079460000", { key })).status).toBe(200);
    expect(await unitsOf(key)).toBe(1);
  });

  test("on a corrupt or truncated database says what to do and leaves the file as it is", async () => {
    await using dns = await startDns(FAULT_ZONE);
    using folder = temporaryFolder("data-dir");
    const key = await usedDataDir(folder.path, dns.server.address);
    const path = join(folder.path, "assay.db");
    const whole = readFileSync(path);
    for (const broken of [Buffer.alloc(40_000, "this is no database"), whole.subarray(0, -1000)]) {
      writeFileSync(path, broken);
      const said = await refusedStart(folder.path);
      expect(said).toContain("is damaged");
      expect(said).toContain("backup");
      expect(readFileSync(path).equals(broken)).toBeTrue();
    }
    writeFileSync(path, whole);
    await using server = await startProcess({ DATA_DIR: folder.path, DNS_SERVERS: dns.server.address });
    expect(await callerOf(server.url).unitsOf(key)).toBe(1);
  });

  test("without the database of a server that ran there says what to do, and makes no other", async () => {
    await using dns = await startDns(FAULT_ZONE);
    using folder = temporaryFolder("data-dir");
    const key = await usedDataDir(folder.path, dns.server.address);
    const path = join(folder.path, "assay.db");
    renameSync(path, `${path}.away`);
    const said = await refusedStart(folder.path);
    expect(said).toContain(`The database ${path} is missing`);
    expect(said).toContain("backup");
    expect(() => statSync(path)).toThrow();
    renameSync(`${path}.away`, path);
    await using server = await startProcess({ DATA_DIR: folder.path, DNS_SERVERS: dns.server.address });
    expect(await callerOf(server.url).unitsOf(key)).toBe(1);
  });

  test("on the database of a newer version is refused with what to do", async () => {
    await using dns = await startDns(FAULT_ZONE);
    using folder = temporaryFolder("data-dir");
    await usedDataDir(folder.path, dns.server.address);
    const database = new Database(join(folder.path, "assay.db"));
    database.run("INSERT INTO migrations VALUES ('0999_later', 'x', 1)");
    database.close(true);
    const said = await refusedStart(folder.path);
    expect(said).toContain("written by a newer version");
    expect(said).toContain("Start that version or a later one");
  });
});

test("a database file that disappears under a running server fails its health, and is not created anew", async () => {
  await using dns = await startDns(FAULT_ZONE);
  using folder = temporaryFolder("data-dir");
  await using server = await startProcess({ DATA_DIR: folder.path, DNS_SERVERS: dns.server.address });
  const { signUp, call } = callerOf(server.url);
  await signUp();
  const path = join(folder.path, "assay.db");
  renameSync(path, `${path}.away`);
  await until("failing health", async () => (await call("/health")).status === 503);
  const health = await jsonOf<{ checks: { database: { status: string } } }>(await call("/health"));
  expect(health.checks.database.status).toBe("fail");
  expect((await call("/healthz")).status).toBe(200);
  expect(() => statSync(path)).toThrow();
  renameSync(`${path}.away`, path);
  await until("passing health", async () => (await call("/health")).status === 200);
  expect(await refusalOf(await call("/v1/account"))).toBe("401 missing_key");
});
