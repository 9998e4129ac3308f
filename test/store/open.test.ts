import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { backupDatabase } from "../../src/store/sqlite/data-dir/backup.ts";
import { openStore } from "../../src/store/sqlite/open.ts";
import { StorageError, StoreOpenError } from "../../src/store/storage-error.ts";
import { charge, handClock, openAccounting, signUp, withDirectory } from "../billing/accounting.ts";

const clock = handClock();

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof StoreOpenError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** A data directory with some rows in it, closed. */
function fill(dataDir: string): void {
  const accounting = openAccounting({ clock, dataDir });
  for (let count = 0; count < 200; count += 1) signUp(accounting);
  accounting.store.close();
}

describe("data directory", () => {
  test("is made where it is missing, for its owner alone, and closing leaves no open file", () =>
    withDirectory((root) => {
      const dataDir = join(root, "a", "b");
      openStore({ dataDir, clock }).close();
      expect(readdirSync(dataDir).sort()).toEqual(["assay.db", "assay.lock"]);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    }));

  test("that cannot be made or written is refused with what to do", () =>
    withDirectory((root) => {
      writeFileSync(join(root, "file"), "");
      const refusal = refusalOf(() => openStore({ dataDir: join(root, "file", "data"), clock }));
      expect(refusal).toContain("cannot be made (its folder is a file)");
      expect(refusal).toContain("DATA_DIR");
      expect(refusalOf(() => openStore({ dataDir: "/proc/assay", clock }))).toContain("cannot be made");
      expect(refusalOf(() => openStore({ dataDir: "/proc/self/fdinfo", clock }))).toContain(
        "cannot be written",
      );
    }));

  test("belongs to one store at a time, also within one process", () =>
    withDirectory((dataDir) => {
      const store = openStore({ dataDir, clock });
      const refusal = refusalOf(() => openStore({ dataDir, clock }));
      expect(refusal).toBe(
        `Another process is using the data directory ${dataDir}. Stop it, or set DATA_DIR to another directory.`,
      );
      store.probe();
      store.close();
      store.close();
      openStore({ dataDir, clock }).close();
    }));

  test("is refused to a second process, and free at once when the first is killed", () =>
    withDirectory(async (dataDir) => {
      const script = `
        import { openStore } from ${JSON.stringify(join(import.meta.dir, "../../src/store/sqlite/open.ts"))};
        import { systemClock } from ${JSON.stringify(join(import.meta.dir, "../../src/platform/clock.ts"))};
        const store = openStore({ dataDir: ${JSON.stringify(dataDir)}, clock: systemClock });
        store.probe();
        console.log("open");
        setInterval(() => store.probe(), 1_000);`;
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
      try {
        const { value } = await child.stdout.getReader().read();
        expect(new TextDecoder().decode(value)).toBe("open\n");
        expect(refusalOf(() => openStore({ dataDir, clock }))).toContain("Another process is using");
      } finally {
        child.kill("SIGKILL");
        await child.exited;
      }
      const store = openStore({ dataDir, clock });
      store.probe();
      store.close();
    }));
});

describe("database", () => {
  test("of garbage, truncated, or with a corrupt page is refused as damaged, and left as it is", () =>
    withDirectory((dataDir) => {
      const path = join(dataDir, "assay.db");
      fill(dataDir);
      const whole = readFileSync(path);

      writeFileSync(path, "this is no database".repeat(1_000));
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain("is damaged (it is no SQLite file)");
      expect(readFileSync(path, "utf8")).toStartWith("this is no database");

      writeFileSync(path, whole);
      truncateSync(path, whole.length - 1_000);
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain(
        "is damaged (its last page is cut off)",
      );
      truncateSync(path, whole.length - 4_096 * 3);
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain("is damaged");

      const broken = Buffer.from(whole);
      broken.fill(0xff, 4_096 * 4, 4_096 * 20);
      writeFileSync(path, broken);
      const refusal = refusalOf(() => openStore({ dataDir, clock }));
      expect(refusal).toContain("is damaged");
      expect(refusal).toContain("To restore a backup:");

      writeFileSync(path, whole);
      openStore({ dataDir, clock }).close();
    }));

  test("of a newer version is refused", () =>
    withDirectory((dataDir) => {
      fill(dataDir);
      const database = new Database(join(dataDir, "assay.db"));
      database.run("INSERT INTO migrations VALUES ('0999_later', 'x', 1)");
      database.close();
      const refusal = refusalOf(() => openStore({ dataDir, clock }));
      expect(refusal).toContain("written by a newer version (it has the step 0999_later)");
      expect(refusal).toContain("Start that version or a later one");
    }));

  test("with a migration that was changed afterwards is refused", () =>
    withDirectory((dataDir) => {
      fill(dataDir);
      const database = new Database(join(dataDir, "assay.db"));
      database.run("UPDATE migrations SET checksum = 'x' WHERE name = '0000_initial'");
      database.close();
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain(
        "a step 0000_initial that this version does not",
      );
    }));

  test("of another program is refused", () =>
    withDirectory((dataDir) => {
      const database = new Database(join(dataDir, "assay.db"), { create: true });
      database.run("CREATE TABLE theirs (x)");
      database.close();
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain("belongs to another program");
    }));

  test("that is missing beside its log is not silently created anew", () =>
    withDirectory((dataDir) => {
      mkdirSync(dataDir, { recursive: true });
      writeFileSync(join(dataDir, "assay.db-wal"), "log");
      expect(refusalOf(() => openStore({ dataDir, clock }))).toContain("is gone, though");
    }));

  test("that is empty beside files that came after it is not silently begun anew, and stays as it is", () =>
    withDirectory((dataDir) => {
      fill(dataDir);
      const path = join(dataDir, "assay.db");
      mkdirSync(join(dataDir, "directory"));
      truncateSync(path, 0);
      const refusal = refusalOf(() => openStore({ dataDir, clock }));
      expect(refusal).toStartWith(`The database ${path} is empty, though directory beside it came after it`);
      expect(refusal).toContain(`copy the backup to ${path}`);
      expect(statSync(path).size).toBe(0);
    }));

  test("that is missing beside kept replies or parts of uploads is refused with what to do, and not made", () =>
    withDirectory((dataDir) => {
      fill(dataDir);
      const path = join(dataDir, "assay.db");
      rmSync(path);
      for (const made of ["idempotency", "jobs/job_1"]) {
        mkdirSync(join(dataDir, made), { recursive: true });
        const refusal = refusalOf(() => openStore({ dataDir, clock }));
        const [name = ""] = made.split("/");
        expect(refusal).toStartWith(
          `The database ${path} is missing, though ${name} beside it came after it`,
        );
        expect(refusal).toContain(`copy the backup to ${path}`);
        expect(existsSync(path)).toBe(false);
        rmSync(join(dataDir, name), { recursive: true });
      }
    }));

  test("that is missing beside foreign files, a mounted disk or what is brought to a new server is made", () =>
    withDirectory((dataDir) => {
      for (const name of [".gitkeep", "README.txt", "signing-key.pem", "assay.lock", "assay.probe"]) {
        writeFileSync(join(dataDir, name), "");
      }
      for (const name of ["lost+found", "jobs/lost+found", "directory", "scan/jobs"]) {
        mkdirSync(join(dataDir, name), { recursive: true });
      }
      openStore({ dataDir, clock }).close();
    }));

  test("of a first start that was ended before its tables were made is begun anew", () =>
    withDirectory((dataDir) => {
      for (const name of ["assay.db", "assay.lock", "assay.probe"]) writeFileSync(join(dataDir, name), "");
      mkdirSync(join(dataDir, "lost+found"));
      openStore({ dataDir, clock }).close();
      openStore({ dataDir, clock }).close();
    }));

  test("that is removed while it is in use fails the probe", () =>
    withDirectory((dataDir) => {
      const path = join(dataDir, "assay.db");
      const store = openStore({ dataDir, clock });
      store.probe();
      renameSync(path, `${path}.away`);
      expect(() => store.probe()).toThrow(StorageError);
      renameSync(`${path}.away`, path);
      store.probe();
      rmSync(path);
      writeFileSync(path, "");
      expect(() => store.probe()).toThrow(StorageError);
      store.close();
    }));

  test("keeps what was charged when the process ends without closing it", () =>
    withDirectory(async (root) => {
      const accounting = openAccounting({ clock, dataDir: join(root, "a") });
      const { accountId } = signUp(accounting);
      await charge(accounting, accountId, 7);
      mkdirSync(join(root, "b"));
      for (const name of ["assay.db", "assay.db-wal"])
        copyFileSync(join(root, "a", name), join(root, "b", name));
      const after = openAccounting({ clock, dataDir: join(root, "b") });
      expect(after.accounts.view(accountId).usage.units).toBe(7);
      after.store.close();
      accounting.store.close();
    }));
});

describe("backup", () => {
  test("is taken while the store is in use, and is a whole data directory when put there", () =>
    withDirectory(async (root) => {
      const dataDir = join(root, "data");
      const accounting = openAccounting({ clock, dataDir });
      const { accountId, apiKey } = signUp(accounting);
      await charge(accounting, accountId, 7);
      const { bytes } = backupDatabase({ dataDir, toPath: join(root, "backup.db") });
      expect(bytes).toBeGreaterThan(4_096);
      await charge(accounting, accountId, 5);
      accounting.store.close();

      mkdirSync(join(root, "restored"));
      copyFileSync(join(root, "backup.db"), join(root, "restored", "assay.db"));
      const restored = openAccounting({ clock, dataDir: join(root, "restored") });
      expect(restored.accounts.view(accountId).usage.units).toBe(7);
      expect(restored.keyRing.find(apiKey)?.accountId).toBe(accountId);
      await charge(restored, accountId, 1);
      restored.store.close();
    }));

  test("never writes over a file, and says so when there is nothing to copy", () =>
    withDirectory((root) => {
      const dataDir = join(root, "data");
      expect(refusalOf(() => backupDatabase({ dataDir, toPath: join(root, "b.db") }))).toContain(
        "no database",
      );
      fill(dataDir);
      writeFileSync(join(root, "b.db"), "precious");
      expect(refusalOf(() => backupDatabase({ dataDir, toPath: join(root, "b.db") }))).toContain("exists");
      expect(readFileSync(join(root, "b.db"), "utf8")).toBe("precious");
      expect(refusalOf(() => backupDatabase({ dataDir, toPath: join(root, "no", "b.db") }))).toContain(
        "failed",
      );
    }));
});
