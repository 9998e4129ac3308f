import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/process.ts";
import { outcomeOf } from "../support/script.ts";
import { startTestServer, type TestServer } from "../support/server.ts";

/**
 * The specification as other people's tools take it, with their own rules: two linters without a complaint, and two
 * generated clients that type-check and are answered by the live server. The tools are a package of their own.
 */

setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../..");
const TOOLS = join(ROOT, "test/specification-tools");
const PROGRAMS = ["openapi-fetch-program.ts", "hey-api-program.ts"] as const;

const isInstalled = await hasTools();
if (!isInstalled)
  console.log("specification: the packages of test/specification-tools cannot be installed here; skipped");

describe.skipIf(!isInstalled)("other people's tools", () => {
  let server: TestServer;
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(async () => {
    server = await startTestServer();
    folder = temporaryFolder("specification");
    await Bun.write(join(folder.path, "openapi.json"), await (await server.call("/openapi.json")).text());
    symlinkSync(join(TOOLS, "node_modules"), join(folder.path, "node_modules"));
    for (const file of [...PROGRAMS, "spectral.yaml"])
      copyFileSync(join(TOOLS, file), join(folder.path, file));
    await Promise.all([
      tool("openapi-typescript", "openapi.json", "--output", "schema.d.ts"),
      tool("openapi-ts", "--input", "openapi.json", "--output", "hey-api", "--silent"),
    ]);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** Runs a tool under Node, as its readers do, and returns what it prints; throws where it exits with another code. */
  async function tool(name: string, ...args: readonly string[]): Promise<string> {
    return run("node", join("node_modules/.bin", name), ...args);
  }

  async function run(...command: readonly string[]): Promise<string> {
    const child = Bun.spawn([...command], {
      cwd: folder.path,
      env: {
        ...process.env,
        NO_COLOR: "1",
        REDOCLY_TELEMETRY: "off",
        REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const { printed, complaint, exitCode } = await outcomeOf(child);
    if (exitCode !== 0) throw new Error(`${command.join(" ")}\n${printed}${complaint}`);
    return printed + complaint;
  }

  test("redocly and spectral find neither an error nor a warning", async () => {
    const [redocly, spectral] = await Promise.all([
      tool("redocly", "lint", "openapi.json", "--format=json"),
      tool("spectral", "lint", "openapi.json", "--ruleset", "spectral.yaml", "--fail-severity", "hint"),
    ]);
    expect(/"errors": (\d+),\s*"warnings": (\d+)/.exec(redocly)?.slice(1)).toEqual(["0", "0"]);
    expect(spectral).toContain("No results");
  });

  test("programs with the generated clients type-check, and are answered by the live server", async () => {
    await Bun.write(
      join(folder.path, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: "es2022",
          module: "preserve",
          lib: ["es2023", "dom", "dom.iterable"],
          types: ["bun-types"],
          typeRoots: [join(ROOT, "node_modules")],
          allowImportingTsExtensions: true,
          skipLibCheck: true,
        },
        files: PROGRAMS,
      }),
    );
    await run("node", join(ROOT, "node_modules/typescript/bin/tsc"), "--project", "tsconfig.json");
    for (const program of PROGRAMS) {
      const printed = await run(process.execPath, program, server.url, await server.signUp());
      expect([program, JSON.parse(printed)]).toEqual([
        program,
        {
          count: 2,
          charged: 2,
          statuses: ["deliverable", "undeliverable"],
          lines: 4,
          score: expect.any(Number),
          types: ["cpf", "isbn"],
          e164: ["+5511987654321"],
          units: 11,
          code: "invalid_request",
        },
      ]);
    }
  });
});

async function hasTools(): Promise<boolean> {
  const install = Bun.spawn(
    ["timeout", "100", process.execPath, "install", "--cwd", TOOLS, "--frozen-lockfile", "--silent"],
    { stdout: "ignore", stderr: "ignore" },
  );
  return (await install.exited) === 0 && existsSync(join(TOOLS, "node_modules/.bin/redocly"));
}
