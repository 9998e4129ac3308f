import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createIdempotency,
  type IdempotencyStart,
  idempotencyFingerprint,
  parseIdempotencyKey,
} from "../../src/billing/idempotency.ts";
import type { IdempotentCall } from "../../src/billing/idempotent-call.ts";
import { ApiError } from "../../src/contract/errors.ts";
import { handClock, openParts, type Parts, signUp, withDirectory } from "./parts.ts";

const HOUR_MS = 3_600_000;
const HEADERS = { "content-type": "application/json", "x-units-charged": "1" };

function freshOf(start: IdempotencyStart): IdempotentCall {
  if (start.state !== "fresh") throw new Error(`the call is ${start.state}`);
  return start.call;
}

/** A whole call: reserve, work, and one transaction for charge and reply. */
async function runCall(
  parts: Parts,
  accountId: string,
  key: string,
  body: string,
  secret?: string,
): Promise<void> {
  const call = freshOf(parts.idempotency.begin(accountId, key, "print", secret));
  const reservation = parts.meter.reserve({ accountId }, 1);
  await reservation.record(
    { endpoint: "/v1/email/verify", units: 1 },
    call.keep({ status: 200, headers: HEADERS, body }),
  );
  reservation.release();
  call.end();
}

async function replayedText(start: IdempotencyStart): Promise<string> {
  if (start.state !== "replay") throw new Error(`the call is ${start.state}`);
  return typeof start.reply.body === "string" ? start.reply.body : start.reply.body.text();
}

describe("idempotency", () => {
  test("of 100 calls at once with one key exactly one runs, and later ones get its reply", async () => {
    const parts = openParts({ clock: handClock() });
    const { accountId } = signUp(parts);
    const starts = Array.from({ length: 100 }, () => parts.idempotency.begin(accountId, "k", "print"));
    expect(starts.filter(({ state }) => state === "fresh")).toHaveLength(1);
    expect(starts.filter(({ state }) => state === "in_progress")).toHaveLength(99);
    expect(parts.idempotency.begin(accountId, "k", "other").state).toBe("mismatch");
    const call = starts.flatMap((start) => (start.state === "fresh" ? [start.call] : []))[0];
    call?.end();

    await runCall(parts, accountId, "k", '{"ok":"ção"}');
    const replay = parts.idempotency.begin(accountId, "k", "print");
    expect(replay).toEqual({
      state: "replay",
      reply: { status: 200, headers: HEADERS, body: '{"ok":"ção"}' },
    });
    expect(parts.idempotency.begin(accountId, "k", "other").state).toBe("mismatch");
    expect(parts.accounts.view(accountId).usage.units).toBe(1);
  });

  test("a call that kept nothing frees its key, and keys are each account's own", async () => {
    const parts = openParts({ clock: handClock() });
    const [first, second] = [signUp(parts).accountId, signUp(parts).accountId];
    freshOf(parts.idempotency.begin(first, "k", "print")).end();
    await runCall(parts, first, "k", "first");
    await runCall(parts, second, "k", "second");
    expect(await replayedText(parts.idempotency.begin(first, "k", "print"))).toBe("first");
    expect(await replayedText(parts.idempotency.begin(second, "k", "print"))).toBe("second");
  });

  test("a reply whose charge was undone is not kept", async () => {
    const parts = openParts({ clock: handClock() });
    const { accountId } = signUp(parts);
    const call = freshOf(parts.idempotency.begin(accountId, "k", "print"));
    const keep = call.keep({ status: 200, headers: {}, body: "x" });
    const reservation = parts.meter.reserve({ accountId }, 1);
    // No column takes half a status.
    const charged = reservation.record({ endpoint: "/e", units: 1 }, { ...keep, status: 0.5 });
    await expect(charged).rejects.toThrow("cannot store REAL");
    reservation.release();
    call.end();
    expect(parts.idempotency.begin(accountId, "k", "print").state).toBe("fresh");
    expect(parts.accounts.view(accountId).usage.units).toBe(0);
  });

  test("a reply is kept for 24 hours, then the key is new again", async () => {
    const clock = handClock();
    const parts = openParts({ clock });
    const { accountId } = signUp(parts);
    await runCall(parts, accountId, "k", "first");
    clock.advance(24 * HOUR_MS - 1);
    await parts.idempotency.prune();
    expect(parts.idempotency.begin(accountId, "k", "print").state).toBe("replay");
    clock.advance(1);
    await runCall(parts, accountId, "k", "second");
    await parts.idempotency.prune();
    expect(await replayedText(parts.idempotency.begin(accountId, "k", "print"))).toBe("second");
    clock.advance(24 * HOUR_MS);
    await parts.idempotency.prune();
    expect(parts.store.findReply(accountId, "k")).toBeNull();
  });

  test("a reply that holds a secret is on disk only sealed, and replayed to the same key alone", async () => {
    const parts = openParts({ clock: handClock() });
    const { accountId, apiKey } = signUp(parts);
    await runCall(parts, accountId, "k", '{"api_key":"asy_new"}', apiKey);
    expect(parts.store.findReply(accountId, "k")?.body).not.toContain("asy_new");
    expect(await replayedText(parts.idempotency.begin(accountId, "k", "print", apiKey))).toBe(
      '{"api_key":"asy_new"}',
    );
    expect(parts.idempotency.begin(accountId, "k", "print", "another key").state).toBe("mismatch");
  });

  test("when too much is kept, new calls with a key are refused and old ones still replayed", async () => {
    const parts = openParts({ clock: handClock() });
    const { accountId } = signUp(parts);
    const idempotency = createIdempotency({ ...parts, directory: null, keptBytesMax: 10 });
    await runCall({ ...parts, idempotency }, accountId, "k", "x".repeat(10));
    expect(() => idempotency.begin(accountId, "k2", "print")).toThrow(ApiError);
    expect(idempotency.begin(accountId, "k", "print").state).toBe("replay");
  });
});

describe("streamed replies", () => {
  async function stream(parts: Parts, accountId: string, pieces: readonly string[]): Promise<IdempotentCall> {
    const call = freshOf(parts.idempotency.begin(accountId, "k", "print"));
    const body = await call.openBody();
    const reservation = parts.meter.reserve({ accountId }, pieces.length);
    for (const piece of pieces) {
      await body.append(piece);
      await reservation.record({ endpoint: "/v1/email/batch", units: 1 });
    }
    const keep = await body.keep({ status: 200, headers: HEADERS });
    await reservation.record({ endpoint: "/v1/email/batch", units: 0 }, keep);
    reservation.release();
    return call;
  }

  test("are a file, survive a restart, and go when they expire", () =>
    withDirectory(async (dataDir) => {
      const clock = handClock();
      const before = openParts({ clock, dataDir });
      const { accountId } = signUp(before);
      const pieces = Array.from({ length: 50 }, (_, index) => `piece ${index} 🦊`.repeat(1_000));
      (await stream(before, accountId, pieces)).end();
      before.store.close();

      const parts = openParts({ clock, dataDir });
      await parts.idempotency.prune();
      const replay = parts.idempotency.begin(accountId, "k", "print");
      expect(replay).toMatchObject({ state: "replay", reply: { status: 200, headers: HEADERS } });
      expect(await replayedText(replay)).toBe(pieces.join(""));
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      clock.advance(24 * HOUR_MS);
      await parts.idempotency.prune();
      expect(readdirSync(join(dataDir, "idempotency"))).toEqual([]);
      parts.store.close();
    }));

  test("that break off leave neither row nor file, and the key is free", () =>
    withDirectory(async (dataDir) => {
      const parts = openParts({ clock: handClock(), dataDir });
      const { accountId } = signUp(parts);
      const broken = freshOf(parts.idempotency.begin(accountId, "k", "print"));
      await (await broken.openBody()).append("half");
      broken.end();
      const unwritten = freshOf(parts.idempotency.begin(accountId, "k", "print"));
      await (await unwritten.openBody()).keep({ status: 200, headers: {} });
      unwritten.end();
      (await stream(parts, accountId, ["whole"])).end();
      await parts.idempotency.prune();
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      expect(await replayedText(parts.idempotency.begin(accountId, "k", "print"))).toBe("whole");
      parts.store.close();
    }));

  test("of a crash are cleared away at the start, those of running calls are left alone", () =>
    withDirectory(async (dataDir) => {
      const parts = openParts({ clock: handClock(), dataDir });
      const { accountId } = signUp(parts);
      const call = freshOf(parts.idempotency.begin(accountId, "k", "print"));
      const body = await call.openBody();
      await body.append("running");
      writeFileSync(join(dataDir, "idempotency", "lost.part"), "x");
      writeFileSync(join(dataDir, "idempotency", "lost"), "x");
      await parts.idempotency.prune();
      expect(readdirSync(join(dataDir, "idempotency"))).toHaveLength(1);
      const reservation = parts.meter.reserve({ accountId }, 1);
      await reservation.record({ endpoint: "/e", units: 1 }, await body.keep({ status: 200, headers: {} }));
      call.end();
      expect(await replayedText(parts.idempotency.begin(accountId, "k", "print"))).toBe("running");
      parts.store.close();
    }));

  test("whose file is gone, as after a restored backup, run anew", () =>
    withDirectory(async (dataDir) => {
      const parts = openParts({ clock: handClock(), dataDir });
      const { accountId } = signUp(parts);
      (await stream(parts, accountId, ["first"])).end();
      rmSync(join(dataDir, "idempotency"), { recursive: true });
      (await stream(parts, accountId, ["second"])).end();
      expect(await replayedText(parts.idempotency.begin(accountId, "k", "print"))).toBe("second");
      parts.store.close();
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

  test("the fingerprint tells every part of a call apart", () => {
    const call = {
      method: "POST",
      pathname: "/a",
      search: "",
      contentType: "application/json",
      accept: "*/*",
      body: "{}",
    };
    const others = [
      { method: "PUT" },
      { pathname: "/b" },
      { search: "?b" },
      { contentType: "text/plain" },
      { accept: "application/x-ndjson" },
      { body: "{ }" },
    ];
    const prints = [call, ...others.map((other) => ({ ...call, ...other }))].map(idempotencyFingerprint);
    expect(new Set(prints).size).toBe(7);
    expect(idempotencyFingerprint({ ...call, body: Buffer.from("{}") })).toBe(prints[0] ?? "");
  });
});
