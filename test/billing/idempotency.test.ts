import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  bodyDigest,
  idempotencyFingerprint,
  parseIdempotencyKey,
} from "../../src/billing/call-fingerprint.ts";
import { createIdempotency, type IdempotencyStart } from "../../src/billing/idempotency.ts";
import type { IdempotentCall } from "../../src/billing/idempotent-call.ts";
import { StorageError } from "../../src/store/storage-error.ts";
import { type Accounting, handClock, openAccounting, signUp, withDirectory } from "./accounting.ts";

const HOUR_MS = 3_600_000;
const SECRET = "asy_caller";
const HEADERS = { "content-type": "application/json", "x-units-charged": "1" };

function freshOf(start: IdempotencyStart): IdempotentCall {
  if (start.state !== "fresh") throw new Error(`the call is ${start.state}`);
  return start.call;
}

/** A whole call: reserve, work, and one transaction for charge and reply. */
async function runCall(
  accounting: Accounting,
  accountId: string,
  key: string,
  body: string,
  secret = SECRET,
): Promise<void> {
  const call = freshOf(accounting.idempotency.begin(accountId, key, "print", secret));
  const reservation = accounting.meter.reserve({ accountId }, 1);
  await reservation.record(
    { endpoint: "/v1/email/verify", units: 1 },
    call.keep({ status: 200, headers: HEADERS, body }),
  );
  reservation.release();
  void call.end();
}

/** The store of an accounting, whose replies cannot be read at times. */
function unreadable({ store }: Accounting) {
  let isAway = false;
  const findReply: typeof store.findReply = (...of) => {
    if (isAway) throw new StorageError("the disk cannot be read");
    return store.findReply(...of);
  };
  const whileAway = (work: () => void) => {
    isAway = true;
    work();
    isAway = false;
  };
  return { store: { ...store, findReply }, whileAway };
}

async function replayedText(start: IdempotencyStart): Promise<string> {
  if (start.state !== "replay") throw new Error(`the call is ${start.state}`);
  return new Response(start.reply.body).text();
}

describe("idempotency", () => {
  test("of 100 calls at once with one key exactly one runs, and later ones get its reply", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const starts = Array.from({ length: 100 }, () =>
      accounting.idempotency.begin(accountId, "k", "print", SECRET),
    );
    expect(starts.filter(({ state }) => state === "fresh")).toHaveLength(1);
    expect(starts.filter(({ state }) => state === "in_progress")).toHaveLength(99);
    expect(accounting.idempotency.begin(accountId, "k", "other", SECRET).state).toBe("mismatch");
    const call = starts.flatMap((start) => (start.state === "fresh" ? [start.call] : []))[0];
    call?.end();

    await runCall(accounting, accountId, "k", '{"ok":"ção"}');
    const replay = accounting.idempotency.begin(accountId, "k", "print", SECRET);
    expect(replay).toEqual({
      state: "replay",
      reply: { status: 200, headers: HEADERS, body: '{"ok":"ção"}' },
    });
    expect(accounting.idempotency.begin(accountId, "k", "other", SECRET).state).toBe("mismatch");
    expect(accounting.accounts.view(accountId).usage.units).toBe(1);
  });

  test("a call without a kept reply frees its key, and accounts do not share keys", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const [first, second] = [signUp(accounting).accountId, signUp(accounting).accountId];
    void freshOf(accounting.idempotency.begin(first, "k", "print", SECRET)).end();
    await runCall(accounting, first, "k", "first");
    await runCall(accounting, second, "k", "second");
    expect(await replayedText(accounting.idempotency.begin(first, "k", "print", SECRET))).toBe("first");
    expect(await replayedText(accounting.idempotency.begin(second, "k", "print", SECRET))).toBe("second");
  });

  test("a reply whose charge was rolled back is not kept", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const call = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
    const keep = call.keep({ status: 200, headers: {}, body: "x" });
    const reservation = accounting.meter.reserve({ accountId }, 1);
    // No column takes half a status.
    const charged = reservation.record({ endpoint: "/e", units: 1 }, { ...keep, status: 0.5 });
    await expect(charged).rejects.toThrow("cannot store REAL");
    reservation.release();
    void call.end();
    expect(accounting.idempotency.begin(accountId, "k", "print", SECRET).state).toBe("fresh");
    expect(accounting.accounts.view(accountId).usage.units).toBe(0);
  });

  test("a reply is kept for 24 hours, then the key is new again", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    await runCall(accounting, accountId, "k", "first");
    clock.advance(24 * HOUR_MS - 1);
    await accounting.idempotency.prune();
    expect(accounting.idempotency.begin(accountId, "k", "print", SECRET).state).toBe("replay");
    clock.advance(1);
    await runCall(accounting, accountId, "k", "second");
    await accounting.idempotency.prune();
    expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe("second");
    clock.advance(24 * HOUR_MS);
    await accounting.idempotency.prune();
    expect(accounting.store.keptReplies()).toEqual([]);
  });

  test("a reply is replayed to the API key of its call alone; another is refused", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId, apiKey } = signUp(accounting);
    await runCall(accounting, accountId, "k", '{"api_key":"asy_new"}', apiKey);
    const replay = accounting.idempotency.begin(accountId, "k", "print", apiKey);
    expect(await replayedText(replay)).toBe('{"api_key":"asy_new"}');
    const other = accounting.idempotency.begin(accountId, "k", "print", "another key");
    expect(other).toEqual({ state: "mismatch", differs: "API key" });
  });

  test("neither key nor fingerprint nor reply of a call is on disk in plain text", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId, apiKey } = signUp(accounting);
      const guess = new Bun.CryptoHasher("sha256").update("a guess").digest("hex");
      const call = freshOf(accounting.idempotency.begin(accountId, "jane@idem.example", guess, apiKey));
      const reservation = accounting.meter.reserve({ accountId }, 1);
      const reply = call.keep({ status: 200, headers: {}, body: '{"email":"jane@reply.example"}' });
      await reservation.record({ endpoint: "/e", units: 1 }, reply);
      reservation.release();
      void call.end();
      for (const name of ["assay.db", "assay.db-wal"]) {
        const bytes = readFileSync(join(dataDir, name));
        for (const text of ["jane@", guess, apiKey]) expect(bytes.includes(text)).toBe(false);
      }
      accounting.store.close();
    }));

  test("an account that fills its share is refused alone, and all kept replies stay", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const idempotency = createIdempotency({ ...accounting, directory: null, keptBytesMax: 90_000 });
    const [greedy, modest] = [signUp(accounting).accountId, signUp(accounting).accountId];
    const noise = () => Buffer.from(crypto.getRandomValues(new Uint8Array(6_000))).toString("base64");
    const keep = (accountId: string, key: string, body: string) =>
      runCall({ ...accounting, idempotency }, accountId, key, body);
    let kept = 0;
    const fill = async () => {
      for (; kept < 100; kept += 1) await keep(greedy, `k${kept}`, noise());
    };
    await expect(fill()).rejects.toThrow("Too many calls with an Idempotency-Key are kept");
    // Eight parts of nine for one that is alone.
    expect(kept).toBe(8);
    expect(() => idempotency.begin(greedy, "next", "print", SECRET)).not.toThrow();
    for (let n = 0; n < 5; n += 1) await keep(modest, `k${n}`, "small");
    expect(idempotency.begin(greedy, "k0", "print", SECRET).state).toBe("replay");
    expect(idempotency.begin(modest, "k0", "print", SECRET).state).toBe("replay");
  });

  test("where one or two accounts have filled the store, others keep a little each, up to a bound", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const keptBytesMax = 2_097_152;
    const idempotency = createIdempotency({ ...accounting, directory: null, keptBytesMax });
    const keep = (accountId: string, key: string, body: string) =>
      runCall({ ...accounting, idempotency }, accountId, key, body);
    const noise = (bytes: number) =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64");
    for (let greedy = 0; greedy < 4; greedy += 1) {
      const { accountId } = signUp(accounting);
      const fill = async () => {
        for (let n = 0; n < 1_000; n += 1) await keep(accountId, `k${n}`, noise(40_000));
      };
      await expect(fill()).rejects.toThrow("Too many calls with an Idempotency-Key are kept");
    }
    const kept: string[] = [];
    const keepAll = async () => {
      for (let n = 0; n < 2_000; n += 1) {
        const { accountId } = signUp(accounting);
        await keep(accountId, "k", noise(500));
        kept.push(accountId);
      }
    };
    await expect(keepAll()).rejects.toThrow("Too many calls with an Idempotency-Key are kept");
    expect(kept.length).toBeGreaterThan(200);
    expect(idempotency.keptBytes()).toBeLessThanOrEqual(keptBytesMax * 1.25);
    for (const accountId of kept) {
      expect(idempotency.begin(accountId, "k", "print", SECRET).state).toBe("replay");
    }
  });

  test("the size of kept replies is counted across restarts, replacements and expiry", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const [first, second] = [signUp(accounting).accountId, signUp(accounting).accountId];
    for (const accountId of [first, second]) await runCall(accounting, accountId, "k", "x".repeat(500));
    const before = accounting.idempotency.keptBytes();
    expect(before).toBeGreaterThan(2 * 1_024);
    expect(createIdempotency({ ...accounting, directory: null }).keptBytes()).toBe(before);
    clock.advance(24 * HOUR_MS);
    await runCall(accounting, first, "k", "x".repeat(500));
    expect(accounting.idempotency.keptBytes()).toBe(before);
    await accounting.idempotency.prune();
    expect(accounting.idempotency.keptBytes()).toBe(before / 2);
    clock.advance(24 * HOUR_MS);
    await accounting.idempotency.prune();
    expect(accounting.idempotency.keptBytes()).toBe(0);
  });

  test("a reply that expires while a call replaces it is counted off once", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    for (const key of ["k", "other"]) await runCall(accounting, accountId, key, "x".repeat(500));
    const bytes = accounting.idempotency.keptBytes() / 2;
    clock.advance(24 * HOUR_MS);
    const call = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
    await accounting.idempotency.expire();
    const reservation = accounting.meter.reserve({ accountId }, 1);
    const reply = call.keep({ status: 200, headers: HEADERS, body: "x".repeat(500) });
    await reservation.record({ endpoint: "/v1/email/verify", units: 1 }, reply);
    reservation.release();
    void call.end();
    expect(accounting.idempotency.keptBytes()).toBe(bytes);
  });

  test("a call whose reply cannot be read at its end frees its key and its share", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const { store, whileAway } = unreadable(accounting);
    const idempotency = createIdempotency({ ...accounting, store, directory: null });
    const call = freshOf(idempotency.begin(accountId, "k", "print", SECRET));
    call.keep({ status: 200, headers: HEADERS, body: "x" });
    whileAway(() => void call.end());
    expect(idempotency.begin(accountId, "k", "print", SECRET).state).toBe("fresh");
    expect(idempotency.keptBytes()).toBe(1_024);
  });

  test("what another process removed counts no longer once it is counted anew, and what is running still does", async () => {
    const clock = handClock();
    const accounting = openAccounting({ clock });
    const { accountId } = signUp(accounting);
    const other = createIdempotency({ ...accounting, directory: null });
    await runCall(accounting, accountId, "k", "x".repeat(500));
    other.recount(accounting.store.keptReplies());
    expect(other.keptBytes()).toBe(accounting.idempotency.keptBytes());
    clock.advance(24 * HOUR_MS);
    await other.expire();
    const call = freshOf(accounting.idempotency.begin(accountId, "running", "print", SECRET));
    accounting.idempotency.recount(accounting.store.keptReplies());
    expect(accounting.idempotency.keptBytes()).toBe(1_024);
    void call.end();
    expect([accounting.idempotency.keptBytes(), other.keptBytes()]).toEqual([0, 0]);
  });
});

describe("streamed replies", () => {
  async function stream(
    accounting: Accounting,
    accountId: string,
    pieces: readonly string[],
  ): Promise<IdempotentCall> {
    const call = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
    const body = await call.openBody();
    const reservation = accounting.meter.reserve({ accountId }, pieces.length);
    for (const piece of pieces) {
      await body.append(piece);
      await reservation.record({ endpoint: "/v1/email/batch", units: 1 });
    }
    const keep = await body.keep({ status: 200, headers: HEADERS });
    await reservation.record({ endpoint: "/v1/email/batch", units: 0 }, keep);
    reservation.release();
    return call;
  }

  test("are a file, survive a restart, and are removed when they expire", () =>
    withDirectory(async (dataDir) => {
      const clock = handClock();
      const before = openAccounting({ clock, dataDir });
      const { accountId } = signUp(before);
      const pieces = Array.from({ length: 50 }, (_, index) => `piece ${index} 🦊`.repeat(1_000));
      void (await stream(before, accountId, pieces)).end();
      before.store.close();

      const accounting = openAccounting({ clock, dataDir });
      await accounting.idempotency.prune();
      const replay = accounting.idempotency.begin(accountId, "k", "print", SECRET);
      expect(replay).toMatchObject({ state: "replay", reply: { status: 200, headers: HEADERS } });
      expect(await replayedText(replay)).toBe(pieces.join(""));
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      clock.advance(24 * HOUR_MS);
      await accounting.idempotency.expire();
      expect(readdirSync(join(dataDir, "idempotency"))).toEqual([]);
      accounting.store.close();
    }));

  test("are in their row where there are no files, compressed, and count what the row takes", async () => {
    const accounting = openAccounting({ clock: handClock() });
    const { accountId } = signUp(accounting);
    const piece = '{"email":"jane@reply.example"}'.repeat(30_000);
    void (await stream(accounting, accountId, [piece, piece])).end();
    const [kept] = accounting.store.keptReplies();
    expect(kept?.bytes).toBeLessThan(piece.length / 100);
    expect(accounting.idempotency.keptBytes()).toBe((kept?.bytes ?? 0) + 1_024);
    expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe(
      piece.repeat(2),
    );
  });

  test("are compressed, and none of their text is in the file", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      const piece = '{"email":"jane@reply.example"}\\u0001'.repeat(30_000);
      void (await stream(accounting, accountId, [piece, piece, piece])).end();
      const [name = ""] = readdirSync(join(dataDir, "idempotency"));
      const path = join(dataDir, "idempotency", name);
      const bytes = readFileSync(path);
      expect(bytes.byteLength).toBeLessThan(piece.length / 100);
      expect(bytes.includes("jane@")).toBe(false);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe(
        piece.repeat(3),
      );
      accounting.store.close();
    }));

  test("that were altered or truncated on disk break off, and never return another text", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      void (await stream(accounting, accountId, ["first ".repeat(50_000), "second"])).end();
      const [name = ""] = readdirSync(join(dataDir, "idempotency"));
      const path = join(dataDir, "idempotency", name);
      const whole = readFileSync(path);
      const flipped = Buffer.from(whole);
      flipped.writeUInt8(flipped.readUInt8(40) ^ 1, 40);
      for (const damaged of [flipped, whole.subarray(0, -4), whole.subarray(0, -10)]) {
        writeFileSync(path, damaged);
        const replay = accounting.idempotency.begin(accountId, "k", "print", SECRET);
        await expect(replayedText(replay)).rejects.toThrow("a kept reply");
      }
      accounting.store.close();
    }));

  test("that break off leave neither row nor file, and the key is free", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      const broken = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
      await (await broken.openBody()).append("half");
      void broken.end();
      const unwritten = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
      await (await unwritten.openBody()).keep({ status: 200, headers: {} });
      void unwritten.end();
      void (await stream(accounting, accountId, ["whole"])).end();
      await accounting.idempotency.prune();
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe("whole");
      accounting.store.close();
    }));

  test("whose row cannot be read when their call ends stay, unless no row names them", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      const { store, whileAway } = unreadable(accounting);
      const directory = join(dataDir, "idempotency");
      const idempotency = createIdempotency({ ...accounting, store, directory });
      const written = await stream({ ...accounting, idempotency }, accountId, ["written"]);
      const unwritten = freshOf(idempotency.begin(accountId, "other", "print", SECRET));
      await (await unwritten.openBody()).keep({ status: 200, headers: {} });
      whileAway(() => {
        void written.end();
        void unwritten.end();
      });
      await idempotency.prune();
      expect(readdirSync(directory)).toHaveLength(1);
      expect(await replayedText(idempotency.begin(accountId, "k", "print", SECRET))).toBe("written");
      accounting.store.close();
    }));

  test("of a crash are removed at the start, those of running calls are not", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      const call = freshOf(accounting.idempotency.begin(accountId, "k", "print", SECRET));
      const body = await call.openBody();
      await body.append("running");
      writeFileSync(join(dataDir, "idempotency", "lost.part"), "x");
      writeFileSync(join(dataDir, "idempotency", "lost"), "x");
      await accounting.idempotency.prune();
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      const reservation = accounting.meter.reserve({ accountId }, 1);
      await reservation.record({ endpoint: "/e", units: 1 }, await body.keep({ status: 200, headers: {} }));
      void call.end();
      expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe(
        "running",
      );
      accounting.store.close();
    }));

  test("whose file is missing, as after a restored backup, run again", () =>
    withDirectory(async (dataDir) => {
      const accounting = openAccounting({ clock: handClock(), dataDir });
      const { accountId } = signUp(accounting);
      void (await stream(accounting, accountId, ["first"])).end();
      rmSync(join(dataDir, "idempotency"), { recursive: true });
      void (await stream(accounting, accountId, ["second"])).end();
      expect(await replayedText(accounting.idempotency.begin(accountId, "k", "print", SECRET))).toBe(
        "second",
      );
      accounting.store.close();
    }));
});

describe("header", () => {
  test.each([
    ['"8e03978e-40d5"', "8e03978e-40d5"],
    ["8e03978e-40d5", "8e03978e-40d5"],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ["x".repeat(255), "x".repeat(255)],
    ["x".repeat(256), null],
    ["", null],
    ['""', null],
    ["é", null],
    ["a\u0000b", null],
  ])("%j is the key %j", (header, key) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  test("the fingerprint differs with every part of a call", () => {
    const call = {
      method: "POST",
      pathname: "/a",
      search: "",
      contentType: "application/json",
      accept: "*/*",
      bodyDigest: bodyDigest("{}"),
    };
    const others = [
      { method: "PUT" },
      { pathname: "/b" },
      { search: "?b" },
      { contentType: "text/plain" },
      { accept: "application/x-ndjson" },
      { bodyDigest: bodyDigest("{ }") },
    ];
    const prints = [call, ...others.map((other) => ({ ...call, ...other }))].map(idempotencyFingerprint);
    expect(new Set(prints).size).toBe(7);
    expect(bodyDigest(Buffer.from("{}"))).toBe(call.bodyDigest);
  });
});
