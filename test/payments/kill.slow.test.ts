import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { openPayments } from "../../src/store/sqlite/side-databases/payments/open-payments.ts";
import { PRICE_MICRO_USD } from "../support/paid-server.ts";
import { openWorld, type PaidRequest, type PaymentWorld, type WorldPayer } from "../support/payment-world.ts";

/** A server that is killed anywhere between verify and answer charges nobody twice and owes nobody an answer. */

const PRICE = BigInt(PRICE_MICRO_USD);
/** `PAYMENT_KILLS=200` for more. */
const KILLS = Number(process.env.PAYMENT_KILLS ?? 8);
const PAYMENTS_PER_KILL = 4;
const opened = await openWorld();
const PROCESS = join(import.meta.dir, "../support/paid-server-process.ts");

type Sent = { readonly payer: WorldPayer; readonly request: PaidRequest; isAnswered: boolean };

async function startProcess(world: PaymentWorld, dataDir: string) {
  const { facilitator, payeeOnBase, payeeOnSolana } = world;
  const options = { dataDir, facilitatorUrl: facilitator.url, payeeOnBase, payeeOnSolana };
  const server = Bun.spawn(["bun", PROCESS, JSON.stringify(options)], { stdout: "pipe", stderr: "inherit" });
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const kill = async () => {
    server.kill("SIGKILL");
    await server.exited;
  };
  return { url, kill };
}

/** A server offers Solana once the facilitator has answered who pays its fees: on a busy machine that may take a while. */
async function sign(payer: WorldPayer, url: string, body: string): Promise<PaidRequest> {
  for (let tries = 1; ; tries++) {
    try {
      return await payer.sign(url, body);
    } catch (error) {
      if (tries === 50) throw error;
      await Bun.sleep(200);
    }
  }
}

async function newPayments(world: PaymentWorld, url: string): Promise<Sent[]> {
  return Promise.all(
    Array.from({ length: PAYMENTS_PER_KILL }, async (_, n): Promise<Sent> => {
      const payer = await (n === 0 ? world.newSolanaPayer(2n * PRICE) : world.newBasePayer(2n * PRICE));
      return { payer, request: await sign(payer, url, `call ${n}`), isAnswered: false };
    }),
  );
}

async function answer(sent: Sent, url: string): Promise<boolean> {
  try {
    const response = await fetch(url, sent.request);
    const { for: paymentId } = (await response.json()) as { for?: string };
    if (response.status !== 200) return false;
    expect(paymentId).toBe(response.headers.get("X-Payment-Id") ?? "");
    sent.isAnswered = true;
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === "ExpectationFailed") throw error;
    return false;
  }
}

async function answerAtLast(sent: Sent, url: string): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await answer(sent, url)) return;
    await Bun.sleep(25);
  }
  throw new Error("a payment is owed its answer");
}

test.skipIf(opened === null)(
  `${KILLS} kills between verify and answer: none charged without an answer to be had, none twice`,
  async () => {
    if (opened === null) return;
    await using world = opened;
    const dataDir = mkdtempSync(join(tmpdir(), "assay-kill-"));
    const all: Sent[] = [];
    let answeredBeforeKill = 0;
    let server = await startProcess(world, dataDir);
    await using _ = { [Symbol.asyncDispose]: () => server.kill() };
    // As long as an undisturbed round takes here, and a little more, so that kills fall anywhere in it.
    const undisturbed = await newPayments(world, server.url);
    all.push(...undisturbed);
    const startedMs = performance.now();
    await Promise.all(undisturbed.map((sent) => answerAtLast(sent, server.url)));
    const killAfterMsMax = (performance.now() - startedMs) * 1.3;
    for (let kill = 0; kill < KILLS; kill++) {
      const round = await newPayments(world, server.url);
      all.push(...round);
      const { url } = server;
      const calls = round.map((sent) => answer(sent, url));
      await Bun.sleep(Math.random() * killAfterMsMax);
      await server.kill();
      answeredBeforeKill += (await Promise.all(calls)).filter(Boolean).length;
      server = await startProcess(world, dataDir);
    }
    // Every other caller never asks again: what is charged of theirs must be there all the same.
    for (const [n, sent] of all.entries()) if (n % 2 === 0) await answerAtLast(sent, server.url);
    await server.kill();
    using database = openPayments(dataDir, systemClock);
    const deadline = performance.now() + 10_000;
    server = await startProcess(world, dataDir);
    while (database.payments.settling(1).length > 0 && performance.now() < deadline) await Bun.sleep(25);
    const charged = await Promise.all(all.map(async ({ payer }) => 2n * PRICE - (await payer.balance())));
    expect(charged.filter((amount) => amount !== 0n && amount !== PRICE)).toEqual([]);
    for (const [n, sent] of all.entries()) {
      if (sent.isAnswered) expect(charged[n]).toBe(PRICE);
      if (charged[n] === PRICE && !sent.isAnswered) await answerAtLast(sent, server.url);
    }
    const after = await Promise.all(all.map(async ({ payer }) => 2n * PRICE - (await payer.balance())));
    expect(after).toEqual(charged);
    const sum = charged.reduce((total, amount) => total + amount, 0n);
    const { base, solana } = await world.received();
    const answered = all.filter(({ isAnswered }) => isAnswered).length;
    expect([base + solana, BigInt(answered) * PRICE]).toEqual([sum, sum]);
    const { count, microUsd } = database.payments.settledTotals();
    expect([BigInt(microUsd), count]).toEqual([sum, answered]);
    await server.kill();
    rmSync(dataDir, { recursive: true });
    console.log(
      `payments: ${KILLS} kills, ${all.length} payments, ${answeredBeforeKill} answered before their kill, ${answered} charged and answered`,
    );
  },
  900_000,
);
