import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runCommand, temporaryFolder } from "../support/process.ts";

// Processes of their own on a machine that may be busy.
setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");

async function run(file: string, ...args: string[]) {
  using folder = temporaryFolder("arguments");
  const environment = { PATH: process.env.PATH ?? "", DATA_DIR: "/dev/null/data" };
  const { exitCode, said, complained } = await runCommand(
    [process.execPath, join(ROOT, file), ...args],
    folder.path,
    environment,
  );
  return { exitCode, said, complained, written: readdirSync(folder.path) };
}

test.each([
  ["src/tools/backup.ts", "Name one file"],
  ["src/tools/build/main.ts", "bun run build [FILE]"],
  ["src/tools/build/client-main.ts", "bun run build:client [FILE]"],
  ["src/main.ts", "A server takes no options"],
  ["src/scan-service.ts", "A server takes no options"],
  ["src/inference-service.ts", "A server takes no options"],
])(
  "%s: --help writes the usage, another option is refused, and neither is taken for a file",
  async (file, usage) => {
    const asked = await run(file, "--help");
    expect(asked).toEqual({ exitCode: 0, said: expect.stringContaining(usage), complained: "", written: [] });
    const wrong = await run(file, "--port", "4000");
    expect(wrong).toEqual({ exitCode: 1, said: "", complained: expect.stringContaining(usage), written: [] });
  },
);
