import { expect, test } from "bun:test";
import { join } from "node:path";
import { handClock, openAccounting, withDirectory } from "./accounting.ts";
import { checkBooks } from "./books.ts";

/** `KILLS=100 bun test test/billing/crash.slow.test.ts` goes on for longer. */
const ROUNDS = Number(process.env.KILLS ?? 6);
const DAY_MS = 86_400_000;

/** Runs the child and kills it after a number of lines. Returns what it had acknowledged by then. */
async function runAndKill(dataDir: string, beginAt: number, linesMax: number): Promise<string[]> {
  const script = join(import.meta.dir, "crash-child.ts");
  const child = Bun.spawn([process.execPath, script, dataDir, String(beginAt)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  let isKilled = false;
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true });
    if (!isKilled && text.split("\n").length > linesMax) {
      child.kill("SIGKILL");
      isKilled = true;
    }
  }
  await child.exited;
  // A last line may have been cut off.
  return text.split("\n").slice(0, -1);
}

test(
  "killed at any moment of charges, plan changes and month turns, no acknowledged unit is lost and none is there twice",
  () =>
    withDirectory(async (dataDir) => {
      const seenInvoices = new Map<string, string>();
      const asked = new Map<string, number>();
      const acked = new Map<string, number>();
      let beginAt = Date.parse("2026-01-20T00:00:00Z");
      for (let round = 0; round < ROUNDS; round += 1) {
        const lines = await runAndKill(dataDir, beginAt, 200 + ((round * 977) % 4_000));
        for (const line of lines) {
          const [what, accountId = "", units] = line.split(" ");
          const counts = what === "acked" ? acked : asked;
          if (what !== "ready") counts.set(accountId, (counts.get(accountId) ?? 0) + Number(units));
        }
        const clock = handClock();
        clock.set(beginAt);
        const accounting = openAccounting({ clock, dataDir });
        checkBooks(join(dataDir, "assay.db"), seenInvoices, (totals) => {
          for (const [accountId, units] of acked) {
            expect(totals.get(accountId)?.units).toBeGreaterThanOrEqual(units);
            expect(totals.get(accountId)?.units).toBeLessThanOrEqual(asked.get(accountId) ?? 0);
          }
        });
        accounting.store.close();
        beginAt += 100 * DAY_MS;
      }
      expect(seenInvoices.size).toBeGreaterThan(ROUNDS);
      expect(acked.size).toBe(ROUNDS * 4);
    }),
  600_000,
);
