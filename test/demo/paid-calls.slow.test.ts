import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { installLocalChains } from "../../src/demo/local-chains.ts";
import { temporaryFolder } from "../support/process.ts";
import { outcomeOf } from "../support/script.ts";

const hasChains = await installLocalChains();
if (!hasChains)
  console.log("demo: the local chains cannot be installed here; bun run demo --inference is skipped");

test.skipIf(!hasChains)(
  "bun run demo --inference pays for calls on local chains, checks their receipts, and leaves nothing behind",
  async () => {
    using folder = temporaryFolder("paid-calls");
    const child = Bun.spawn([process.execPath, "run", "--silent", "demo", "--inference"], {
      cwd: join(import.meta.dir, "../.."),
      env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", TMPDIR: folder.path },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const { printed: text, complaint, exitCode } = await outcomeOf(child);
    expect([complaint, exitCode]).toEqual(["", 0]);
    expect(text).toContain("for free: 0.01 USD");
    expect(text).toMatch(/paid on Base +200: Hello, reader\./);
    expect(text).toMatch(/paid on Solana, stream +200: Hello, reader\./);
    expect(
      text.match(/valid \(format, signature, issued, chain, payment, request(, response)?\)/g)?.length,
    ).toBe(2);
    expect(text.match(/paid 0\.01 USDC in \S{60,}/g)?.length).toBe(2);
    expect(text).toContain("0.04 and 0.04 USDC left, the payee has 0.01 on Base and 0.01 on Solana");
    expect(readdirSync(folder.path)).toEqual([]);
  },
  60_000,
);
