import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { hashApiKey } from "../../src/accounts/api-key.ts";
import { createOperators, type OperatorAsk } from "../../src/accounts/operator-commands.ts";
import type { OperatorOutcome } from "../../src/accounts/operator-outcome.ts";
import { StorageError, UnsettledError } from "../../src/store/storage-error.ts";
import {
  type Accounting,
  charge,
  handClock,
  openAccounting,
  signUp,
  withDirectory,
} from "../billing/accounting.ts";
import { jobRecord } from "../store/job-conformance.ts";
import { until } from "../support/caller.ts";
import { jsonOf } from "../support/json.ts";
import { temporaryFolder } from "../support/process.ts";
import { refusalOf, startTestServer } from "../support/server.ts";

const DAY_MS = 86_400_000;

function operated(plan: "free" | "growth" = "free") {
  const accounting = openAccounting({ clock: handClock("2026-11-01T00:00:00Z") });
  const operators = createOperators(accounting);
  const { accountId, apiKey } = signUp(accounting, plan, `${plan}@example.com`);
  const run = (ask: Omit<OperatorAsk, "account">) => operators.run({ account: accountId, ...ask }, "root");
  return { accounting, operators, accountId, apiKey, run };
}

const invoices = (accounting: Accounting, id: string) =>
  accounting.accounts.invoices(id, { limit: 10, startingAfter: null }).data;

describe("an operator", () => {
  test("suspends an account, whose keys are refused at once with what happened, and resumes it", async () => {
    const { accounting, apiKey, run } = operated();
    expect(accounting.keyRing.find(apiKey)).not.toBeNull();
    expect(await run({ action: "suspend" })).toMatchObject({ ok: true, result: { suspended: true } });
    expect(() => accounting.keyRing.find(apiKey)).toThrow("The account is suspended");
    expect(accounting.keyRing.findExpired(apiKey, DAY_MS)).toBeNull();
    await run({ action: "resume" });
    expect(accounting.keyRing.find(apiKey)).not.toBeNull();
  });

  test("credits units, which pass the hard stop to the unit and end with the month", async () => {
    const { accounting, accountId, run } = operated();
    await charge(accounting, accountId, 1_000);
    expect(() => accounting.meter.reserve({ accountId }, 1)).toThrow("1000 of the 1000");
    expect(await run({ action: "credit", units: 5 })).toMatchObject({
      ok: true,
      result: { remaining_units: 5 },
    });
    await charge(accounting, accountId, 5);
    expect(() => accounting.meter.reserve({ accountId }, 1)).toThrow("1005 of the 1005");
    accounting.clock.set("2026-12-01T00:00:00Z");
    await accounting.billing.issueDue();
    expect(
      invoices(accounting, accountId)[0]?.lines.map(({ description, quantity }) => [description, quantity]),
    ).toEqual([
      ["Free plan", 1],
      ["Free plan: included units", 1_000],
      ["Free plan: credited units", 5],
    ]);
    expect(accounting.accounts.view(accountId).usage.remaining_units).toBe(1_000);
    expect((await run({ action: "credit", units: 0.5 })).ok).toBe(false);
  });

  test("sets a plan, by mailbox too, and learns what does not exist", async () => {
    const { accounting, operators, accountId, run } = operated();
    expect(await run({ action: "set-plan", plan: "gold" })).toEqual({
      ok: false,
      reason: "There is no plan gold: there are free, starter, growth, scale.",
    });
    expect(
      (await operators.run({ action: "set-plan", account: "FREE@example.com", plan: "scale" }, "root")).ok,
    ).toBe(true);
    expect(accounting.accounts.view(accountId).plan).toBe("scale");
    expect((await operators.run({ action: "show", account: "nobody" }, "root")).ok).toBe(false);
  });

  test("erases an account: no personal data and no key is left, counts are, and its last month ends then", async () => {
    const { accounting, operators, accountId, apiKey, run } = operated("growth");
    await charge(accounting, accountId, 7);
    accounting.clock.set("2026-11-16T00:00:00Z");
    expect((await run({ action: "erase" })).ok).toBe(true);
    expect(accounting.keyRing.find(apiKey)).toBeNull();
    const account = accounting.store.findAccount(accountId);
    expect(account).toMatchObject({
      email: "",
      normalized: `erased ${accountId}`,
      name: null,
      company: null,
    });
    expect((await run({ action: "show" })).ok).toBe(false);
    for (const month of ["2026-12-02", "2027-01-02"]) {
      accounting.clock.set(`${month}T00:00:00Z`);
      await accounting.billing.issueDue();
    }
    expect(invoices(accounting, accountId).map(({ total_usd }) => total_usd)).toEqual(["74.50"]);
    expect(
      JSON.stringify([accounting.store.acts(10), await operators.run({ action: "list" }, "root")]),
    ).not.toContain("growth@example.com");
    signUp(accounting, "free", "growth@example.com");
  });

  test("erases an account with very many jobs in steps, between which calls go on", async () => {
    const { accounting, accountId, run } = operated();
    const ended = { accountId, status: "completed", name: "customers of Ann" } as const;
    for (let n = 0; n < 2_000; n += 1) accounting.store.createJob(jobRecord(`job_${n}`, ended), null, 1);
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    expect((await run({ action: "erase" })).ok).toBe(true);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    expect(accounting.store.findJob("job_1999")).toMatchObject({ name: null, deletedAt: expect.any(Number) });
  });

  test("leaves a record of each act, with who did it and when", async () => {
    const { accounting, operators, accountId, run } = operated();
    await run({ action: "suspend" });
    await operators.run({ action: "confirm-clock" }, "ann");
    expect(
      accounting.store.acts(10).map(({ action, operator, accountId: id }) => [action, operator, id]),
    ).toEqual([
      ["confirm-clock", "ann", null],
      ["suspend", "root", accountId],
    ]);
  });
});

/** Runs a command in a process that ends where it would write the outcome, and then in the one that starts next. */
async function ranAcrossAnEnd(ask: OperatorAsk) {
  return await withDirectory(async (dataDir) => {
    const clock = handClock("2026-11-01T00:00:00Z");
    const first = openAccounting({ clock, dataDir });
    const { accountId, apiKey } = signUp(first, "free", "free@example.com");
    const command = JSON.stringify(ask);
    const commandId = first.store.askCommand({ askedAt: clock.now(), operator: "root", command });
    const ended = Promise.withResolvers<void>();
    const answerCommand = () => {
      ended.resolve();
      return new Promise<never>(() => {});
    };
    const dying = createOperators({ ...first, store: { ...first.store, answerCommand } });
    const die = dying.start((error) => ended.reject(error));
    await ended.promise;
    die();
    const isTakenBack = first.store.withdrawCommand(commandId);
    await first.meter.close();
    first.store.close();

    clock.set("2026-11-01T00:00:05Z");
    const second = openAccounting({ clock, dataDir });
    const problems: unknown[] = [];
    const stop = createOperators(second).start((error) => problems.push(error));
    await until("the outcome", () => second.store.commandOutcome(commandId) !== null);
    await until("the end of its commands", () => second.store.nextCommand(0) === null);
    stop();
    expect(problems).toEqual([]);
    const outcome = JSON.parse(second.store.commandOutcome(commandId) ?? "") as OperatorOutcome;
    const acts = second.store.acts(10).map(({ action }) => action);
    const keys = second.store.listKeys(accountId, 0).map(({ keyHash, revokedAt }) => [keyHash, revokedAt]);
    await second.meter.close();
    second.store.close();
    return { accountId, signedUpHash: hashApiKey(apiKey), isTakenBack, outcome, acts, keys };
  });
}

test("a credit whose outcome did not reach the disk is given once, and reported after the next start", async () => {
  const ran = await ranAcrossAnEnd({ action: "credit", account: "free@example.com", units: 5 });
  expect(ran.isTakenBack).toBe(false);
  expect(ran.outcome).toMatchObject({ ok: true, result: { remaining_units: 1_005 } });
  expect(ran.acts).toEqual(["credit"]);
});

test("an erasure whose outcome did not reach the disk is reported as done after the next start", async () => {
  const ran = await ranAcrossAnEnd({ action: "erase", account: "free@example.com" });
  expect(ran.isTakenBack).toBe(false);
  expect(ran.outcome).toEqual({
    ok: true,
    result: { account_id: ran.accountId, erased_at: "2026-11-01T00:00:00Z" },
  });
  expect(ran.acts).toEqual(["erase"]);
});

test("a new key whose outcome did not reach the disk is made once, and reported after the next start", async () => {
  const keyHash = hashApiKey("asy_new");
  const ran = await ranAcrossAnEnd({ action: "new-key", account: "free@example.com", keyHash });
  expect(ran.isTakenBack).toBe(false);
  expect(ran.outcome).toEqual({ ok: true, result: { account_id: ran.accountId } });
  expect(ran.acts).toEqual(["new-key"]);
  const madeAt = Date.parse("2026-11-01T00:00:00Z");
  expect(Object.fromEntries(ran.keys)).toEqual({ [ran.signedUpHash]: madeAt, [keyHash]: null });
});

test("a credit of which the store does not know whether it is on the disk is given once, and reported as given", async () => {
  const { accounting, accountId } = operated();
  const { store, clock } = accounting;
  const failures = [new UnsettledError("no answer to the commit"), new StorageError("disk I/O error")];
  const creditUnits: typeof store.creditUnits = (...change) => {
    const failure = failures.pop();
    if (failure === undefined) return store.creditUnits(...change);
    if (failure instanceof UnsettledError) store.creditUnits(...change);
    throw failure;
  };
  const command = JSON.stringify({ action: "credit", account: accountId, units: 5 });
  const commandId = store.askCommand({ askedAt: clock.now(), operator: "root", command });
  const problems: unknown[] = [];
  const stop = createOperators({ ...accounting, store: { ...store, creditUnits } }).start((problem) =>
    problems.push(problem),
  );
  await until("the outcome", () => store.commandOutcome(commandId) !== null);
  stop();
  expect(JSON.parse(store.commandOutcome(commandId) ?? "")).toMatchObject({
    ok: true,
    result: { remaining_units: 1_005 },
  });
  expect(store.acts(10).map(({ action }) => action)).toEqual(["credit"]);
  expect(problems.map(String)).toEqual([
    "StorageError: disk I/O error",
    "UnsettledError: no answer to the commit",
  ]);
});

test("a command for which the store fails keeps no other account waiting, and is given up when it was asked too long ago", async () => {
  const { accounting, accountId } = operated();
  const { store, clock } = accounting;
  const failing = { ...store, creditUnits: () => Promise.reject(new StorageError("disk I/O error")) };
  const ask = (command: OperatorAsk) =>
    store.askCommand({ askedAt: clock.now(), operator: "root", command: JSON.stringify(command) });
  const credit = ask({ action: "credit", account: accountId, units: 5 });
  const behind = ask({ action: "suspend", account: accountId });
  const shown = ask({ action: "list" });
  const stop = createOperators({ ...accounting, store: failing }).start(() => {});
  await until("the other's outcome", () => store.commandOutcome(shown) !== null);
  // What is asked later of the same account comes later.
  expect([credit, behind].map(store.commandOutcome)).toEqual([null, null]);
  clock.advance(31_000);
  await until("the end of the credit", () => store.nextCommand(0) === null);
  stop();
  expect(store.acts(10).map(({ action }) => action)).toEqual(["list"]);
});

/** The command as an operator runs it. */
async function adminIn(dataDir: string, words: readonly string[]) {
  const child = Bun.spawn([process.execPath, "src/tools/admin.ts", ...words], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, DATA_DIR: dataDir },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, out, error };
}

test("bun run admin refuses a DATA_DIR without a database, and makes none", async () => {
  using folder = temporaryFolder("operators");
  const dataDir = join(folder.path, "mistyped");
  expect(await adminIn(dataDir, ["list"])).toEqual({
    code: 1,
    out: "",
    error: `There is no database ${join(dataDir, "assay.db")}. Set DATA_DIR to the directory of the server.\n`,
  });
  expect(existsSync(dataDir)).toBe(false);
});

test("bun run admin acts on the data directory of a running server within seconds, and of one that has stopped", async () => {
  const server = await startTestServer();
  const admin = (...words: string[]) => adminIn(server.dataDir, words);
  try {
    const key = await server.signUp("free");
    const check = (withKey: string) =>
      server.call("/v1/phone/validate?phone=%2B442079460000", { key: withKey });
    const { account_id } = await jsonOf<{ account_id: string }>(await server.call("/v1/account", { key }));
    expect((await admin("suspend", account_id)).code).toBe(0);
    expect(await refusalOf(await check(key))).toBe("401 bad_key");
    expect((await admin("resume", account_id)).code).toBe(0);
    expect((await check(key)).status).toBe(200);
    const made = JSON.parse((await admin("new-key", account_id)).out) as { api_key: string };
    expect(await refusalOf(await check(key))).toBe("401 bad_key");
    expect((await check(made.api_key)).status).toBe(200);
    expect(JSON.parse((await admin("credit", account_id, "50")).out)).toMatchObject({
      remaining_units: 1_048,
    });
    expect(await admin("suspend", "nobody")).toEqual({
      code: 1,
      out: "",
      error: "No account has the id or the mailbox nobody.\n",
    });
    expect(await admin()).toMatchObject({
      code: 1,
      out: "",
      error: expect.stringContaining("confirm-clock"),
    });
    expect(await admin("--help")).toMatchObject({
      code: 0,
      out: expect.stringContaining("confirm-clock"),
      error: "",
    });
    const refused = async (...words: string[]) => {
      const { code, error } = await admin(...words);
      return [code, error.split("\n")[0]];
    };
    expect(await refused("shw", account_id)).toEqual([1, "There is no action shw:"]);
    expect(await refused("show")).toEqual([1, "Write bun run admin show ACCOUNT."]);
    expect(await refused("credit", account_id)).toEqual([1, "Write bun run admin credit ACCOUNT UNITS."]);
    expect(await refused("erase", "my", "account")).toEqual([1, "Write bun run admin erase ACCOUNT."]);
    const database = new Database(join(server.dataDir, "assay.db"), { readonly: true });
    expect(database.query("SELECT * FROM operator_commands").all()).toEqual([]);
    expect(database.query("SELECT * FROM operator_acts").all()).toHaveLength(4);
    database.close(true);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}, 60_000);
