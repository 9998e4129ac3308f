import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startFixtureServer } from "../../src/made-up-dns/server.ts";
import { type Caller, callerOf, FAULT_ZONE } from "../support/caller.ts";
import { emailBatchOf } from "../support/json.ts";
import { runCommand, startProcess, temporaryFolder } from "../support/process.ts";
import { canMountDisks, mountSmallDisk } from "../support/small-disk.ts";

const ROOT = join(import.meta.dir, "../..");
const CALLERS = 6;
const BATCH = 500;

/** The command as an operator runs it, with nothing of the test's own environment. */
const backup = (dataDir: string, ...args: string[]) => backupIn({ DATA_DIR: dataDir }, ...args);
const backupIn = (environment: { readonly [name: string]: string }, ...args: string[]) =>
  runCommand([process.execPath, "--silent", "run", "backup", ...args], ROOT, {
    PATH: process.env.PATH ?? "",
    ...environment,
  });

/** Charges without a pause until it is stopped: batches and single calls, from several callers at once. */
function charging({ call }: Caller, key: string) {
  const tally = { announced: 0, asked: 0, refused: 0 };
  let stopped = false;
  const charge = async (path: string, body: object, units: number) => {
    tally.asked += units;
    const reply = await call(path, { key, body });
    await reply.arrayBuffer();
    if (reply.status === 200) tally.announced += units;
    else tally.refused += 1;
  };
  const caller = async (name: number) => {
    for (let n = 0; !stopped; n += 1) {
      const box = `c${name}.n${n}`;
      const emails = Array.from({ length: BATCH }, (_, at) => `${box}.${at}@d${at % 30}.many.com`);
      if (name % 2 === 0) await charge("/v1/email/batch", { emails }, BATCH);
      else await charge("/v1/email/verify", { email: `${box}@good.com` }, 1);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, (_, name) => caller(name)));
  return {
    tally,
    until: async (announced: number) => {
      while (tally.announced < announced) await new Promise((resolve) => setImmediate(resolve));
    },
    stop: async () => {
      stopped = true;
      await callers;
    },
  };
}

function integrityOf(path: string): unknown {
  const database = new Database(path, { readonly: true });
  const rows = database.query("PRAGMA integrity_check").all();
  database.close();
  return rows;
}

/** Puts a backup where a server finds it. */
function restore(copy: string, dataDir: string): string {
  mkdirSync(dataDir);
  copyFileSync(copy, join(dataDir, "assay.db"));
  return dataDir;
}

describe("bun run backup", () => {
  test("copies all that was announced before it began, while the server goes on charging", async () => {
    using folder = temporaryFolder("backup");
    await using dns = await startFixtureServer({ zone: FAULT_ZONE });
    const dataDir = join(folder.path, "data");
    const environment = { DATA_DIR: dataDir, DNS_SERVERS: dns.address };
    await using server = await startProcess(environment);
    const caller = callerOf(server.url);
    const key = await caller.signUp();
    const charges = charging(caller, key);
    const copies: { path: string; announcedBefore: number; askedAfter: number }[] = [];
    for (let round = 0; round < 3; round += 1) {
      await charges.until(charges.tally.announced + 5_000);
      const path = join(folder.path, `copy-${round}.db`);
      const announcedBefore = charges.tally.announced;
      const { said, complained, exitCode } = await backup(dataDir, path);
      expect({ exitCode, complained }).toEqual({ exitCode: 0, complained: "" });
      expect(said).toMatch(/^\/\S+copy-\d\.db: \d+\.\d MB in \d+\.\d\d s\n$/);
      copies.push({ path, announcedBefore, askedAfter: charges.tally.asked });
    }
    await charges.stop();
    expect(charges.tally.refused).toBe(0);
    expect(await caller.unitsOf(key)).toBe(charges.tally.announced);

    for (const [round, { path, announcedBefore, askedAfter }] of copies.entries()) {
      expect(integrityOf(path)).toEqual([{ integrity_check: "ok" }]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const restoredDir = restore(path, join(folder.path, `restored-${round}`));
      await using restored = await startProcess({ ...environment, DATA_DIR: restoredDir });
      const { call, unitsOf } = callerOf(restored.url);
      const units = await unitsOf(key);
      expect(units).toBeGreaterThanOrEqual(announcedBefore);
      expect(units).toBeLessThanOrEqual(askedAfter);
      const reply = await call("/v1/email/verify", { key, body: { email: "ann@good.com" } });
      expect(reply.status).toBe(200);
      expect(await unitsOf(key)).toBe(units + 1);
    }
    expect(readdirSync(folder.path).sort()).toEqual([
      ...copies.map((_, round) => `copy-${round}.db`),
      "data",
      ...copies.map((_, round) => `restored-${round}`),
    ]);
  }, 60_000);

  test("of a cluster it copies nothing: DATA_DIR does not contain the data of the nodes", async () => {
    using folder = temporaryFolder("backup");
    using _ = new Database(join(folder.path, "assay.db"), { create: true });
    const settings = { DATA_DIR: folder.path, DATABASE_URL: "postgres://assay@127.0.0.1:5432/assay" };
    const { complained, exitCode } = await backupIn(settings, join(folder.path, "copy.db"));
    expect([complained.includes("pg_dump"), exitCode]).toEqual([true, 1]);
    expect(readdirSync(folder.path)).not.toContain("copy.db");
  });

  test("a restored server replays small kept replies, and runs a batch again whose file is missing", async () => {
    using folder = temporaryFolder("backup");
    await using dns = await startFixtureServer({ zone: FAULT_ZONE });
    const dataDir = join(folder.path, "data");
    const environment = { DATA_DIR: dataDir, DNS_SERVERS: dns.address };
    const emails = ["ann@good.com", "bob@good.com"];
    const repeat = async ({ call }: Caller, key: string) => {
      const keyed = (name: string) => ({ key, headers: { "Idempotency-Key": name } });
      const one = await call("/v1/email/verify", { ...keyed("one"), body: { email: "ann@good.com" } });
      const many = await call("/v1/email/batch", { ...keyed("many"), body: { emails } });
      const replayed = [one, many].map((reply) => reply.headers.get("Idempotent-Replayed"));
      await one.arrayBuffer();
      return { replayed, count: (await emailBatchOf(many)).count };
    };
    await using server = await startProcess(environment);
    const caller = callerOf(server.url);
    const key = await caller.signUp();
    expect(await repeat(caller, key)).toEqual({ replayed: [null, null], count: 2 });
    expect(await repeat(caller, key)).toEqual({ replayed: ["true", "true"], count: 2 });
    const copy = join(folder.path, "copy.db");
    expect((await backup(dataDir, copy)).exitCode).toBe(0);

    const restoredDir = restore(copy, join(folder.path, "restored"));
    await using restored = await startProcess({ ...environment, DATA_DIR: restoredDir });
    const again = callerOf(restored.url);
    expect(await repeat(again, key)).toEqual({ replayed: ["true", null], count: 2 });
    expect(await again.unitsOf(key)).toBe(5);
  }, 120_000);
});

test("bun run backup --help says how it is called, and copies nothing", async () => {
  using folder = temporaryFolder("backup");
  const { said, exitCode } = await backup(folder.path, "--help");
  expect([said.startsWith("bun run backup FILE "), exitCode]).toEqual([true, 0]);
});

describe("bun run backup refuses with one sentence and exit code 1", () => {
  /** A data directory as a stopped server leaves it. */
  async function usedDataDir(path: string): Promise<string> {
    const server = await startProcess({ DATA_DIR: path, DNS_SERVERS: "127.0.0.1:9" });
    expect(await server.end("SIGTERM")).toBe(0);
    return path;
  }

  async function refusal(dataDir: string, ...args: string[]): Promise<string> {
    const { said, complained, exitCode } = await backup(dataDir, ...args);
    expect({ exitCode, said }).toEqual({ exitCode: 1, said: "" });
    expect(complained).toMatch(/^[^\n]+\.\n$/);
    return complained;
  }

  test("where no file is named, the file exists, its folder does not, or there is no database", async () => {
    using folder = temporaryFolder("backup");
    const dataDir = await usedDataDir(join(folder.path, "data"));
    expect(await refusal(dataDir)).toContain("Name one file");
    expect(await refusal(dataDir, "--force")).toContain("Name one file");
    const taken = join(folder.path, "taken.db");
    writeFileSync(taken, "precious");
    expect(await refusal(dataDir, taken)).toContain(`The file ${taken} exists`);
    expect(await Bun.file(taken).text()).toBe("precious");
    expect(await refusal(dataDir, join(folder.path, "no", "copy.db"))).toContain("its folder does not exist");
    const elsewhere = join(folder.path, "elsewhere");
    expect(await refusal(elsewhere, join(folder.path, "b.db"))).toContain(
      `no database ${elsewhere}/assay.db`,
    );
    expect(readdirSync(folder.path).sort()).toEqual(["data", "taken.db"]);
  }, 120_000);

  test("where the database is there and cannot be read, and does not say that there is none", async () => {
    using folder = temporaryFolder("backup");
    // Root, who runs the tests in places, may read all; nobody gets through this.
    symlinkSync("assay.db", join(folder.path, "assay.db"));
    expect(await refusal(folder.path, join(folder.path, "copy.db"))).toContain(
      "assay.db cannot be read (ELOOP). Run the command as the user of the server",
    );
  }, 120_000);

  test("where the database is an empty file, or one of another program: a copy of it would restore nothing", async () => {
    using folder = temporaryFolder("backup");
    const dataDir = join(folder.path, "data");
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "assay.db"), "");
    const copy = join(folder.path, "copy.db");
    expect(await refusal(dataDir, copy)).toContain("is empty, or belongs to another program");
    const other = new Database(join(dataDir, "assay.db"), { create: true });
    other.run("CREATE TABLE notes (note TEXT)");
    other.close();
    expect(await refusal(dataDir, copy)).toContain("is empty, or belongs to another program");
    expect(readdirSync(folder.path)).toEqual(["data"]);
  }, 120_000);

  test("where the database is damaged", async () => {
    using folder = temporaryFolder("backup");
    const dataDir = join(folder.path, "data");
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, "assay.db"), "this is no database at all".repeat(1000));
    expect(await refusal(dataDir, join(folder.path, "b.db"))).toContain("the database is damaged");
    expect(readdirSync(folder.path)).toEqual(["data"]);
  }, 120_000);

  test.skipIf(!canMountDisks)(
    "where the disk is full, and leaves nothing there",
    async () => {
      using folder = temporaryFolder("backup");
      const dataDir = await usedDataDir(join(folder.path, "data"));
      using disk = mountSmallDisk(1);
      disk.fill();
      const filler = join(disk.path, "filler");
      for (const roomBytes of [0, 49_152]) {
        truncateSync(filler, statSync(filler).size - roomBytes);
        expect(await refusal(dataDir, join(disk.path, "b.db"))).toContain("the disk is full");
        expect(readdirSync(disk.path)).toEqual(["filler"]);
      }
      disk.free();
      expect((await backup(dataDir, join(disk.path, "b.db"))).exitCode).toBe(0);
    },
    120_000,
  );
});
