import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { createReceiptLedger } from "../../src/inference/receipt-ledger.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createSigningKey, openSigningKey } from "../../src/signing/signing-key.ts";
import { openInferenceDatabase } from "../../src/store/sqlite/side-databases/inference/open-inference.ts";
import { temporaryFolder } from "../support/process.ts";

const COMMAND = join(import.meta.dir, "../../src/receipts-command.ts");

async function run(folder: string, ...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, COMMAND, ...args], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, printed, complaint };
}

test("bun run receipts verify finds what is forged, gone or in another place, offline", async () => {
  using folder = temporaryFolder("receipts");
  using database = openInferenceDatabase(null, systemClock);
  const signingKey = createSigningKey(generateKeyPairSync("ed25519").privateKey);
  let count = 0;
  const ledger = createReceiptLedger({
    store: database.receipts,
    signingKey,
    now: () => 1_800_000_000_000,
    newReceiptId: () => `rcpt_${++count}`,
  });
  const issue = () => {
    const payment = { paymentId: "p", network: "n", payer: "a", payTo: "b", asset: "c", nonce: "d" };
    const chat = { resourceUrl: "r", quoteId: null, requestSha256: "s", modelRequested: "m" };
    const id = ledger.begin(
      { ...payment, x402Version: 2, amountMicroUsd: 10_000, transaction: null },
      { ...chat, startedAt: 0, firstTokenMs: 1 },
    );
    return ledger.issue(id, { outcome: "complete", model_served: "m", usage: null, choices: [] }).jws;
  };
  const receipts = [issue(), issue(), issue()];
  const write = (name: string, text: string) => Bun.write(join(folder.path, name), text);
  await write("keys.json", JSON.stringify({ keys: [signingKey.publicKey] }));
  await write("good.txt", `${receipts.join("\n")}\n`);
  await write("gap.txt", `${receipts[0]}\n${receipts[2]}\n`);
  await write("forged.txt", `${receipts[0]?.slice(0, -4)}AAAA\n`);
  await write("answer.json", JSON.stringify({ id: "chatcmpl-1", receipt: receipts[1] }));

  const verify = (file: string) => run(folder.path, "verify", file, "--keys", "keys.json");
  expect(await verify("good.txt")).toMatchObject({
    exitCode: 0,
    printed: expect.stringContaining("3 of 3 receipts"),
  });
  expect(await verify("answer.json")).toMatchObject({ exitCode: 0 });
  expect((await verify("gap.txt")).printed).toContain(
    "rcpt_3: valid. The receipt before it is not in the file.",
  );
  expect(await verify("forged.txt")).toMatchObject({
    exitCode: 1,
    printed: expect.stringContaining("NOT VALID"),
  });
  expect(await verify("none.txt")).toMatchObject({ exitCode: 2 });
  expect(await run(folder.path)).toMatchObject({ exitCode: 2, complaint: expect.stringContaining("Usage") });
});

test("bun run receipts rotate-key makes a new key for the next start, and keeps the old one to be checked by", async () => {
  using folder = temporaryFolder("rotation");
  const { publicKey } = openSigningKey(folder.path);
  const { exitCode, printed } = await run(folder.path, "rotate-key", ".");
  const { publicKeys } = openSigningKey(folder.path);
  expect([exitCode, publicKeys.length, publicKeys[1]]).toEqual([0, 2, publicKey]);
  for (const { kid } of publicKeys) expect(printed).toContain(kid);
  expect(await run(folder.path, "rotate-key", "nowhere")).toMatchObject({
    exitCode: 2,
    complaint: expect.stringContaining("There is no nowhere/signing-key.pem"),
  });
});
