import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version } from "../../../package.json" with { type: "json" };
import { CLIENT_SCHEMAS } from "../../contract/client-schemas.ts";
import { typesOf } from "./schema-types.ts";

/** Modules whose exports are the package's. */
const EXPORTED = [
  "client",
  "contract-types",
  "failure",
  "job-types",
  "result-stream",
  "transport",
  "types",
  "webhook",
];

const COMPILER_OPTIONS = {
  target: "ES2022",
  module: "ESNext",
  moduleResolution: "Bundler",
  lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  declaration: true,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true,
};

const README = `# assay-client

The typed client of Assay, for Node.js 20 and later, Bun, Deno and browsers. It has no dependency.

\`\`\`ts
import { createClient } from "assay-client";

const assay = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey });
const { status, reasons } = await assay.verifyEmail("ann@example.com");
\`\`\`
`;

/**
 * Makes the client an npm package: ES modules with their types, packed into `outfile`. Throws with the compiler's
 * words where a file of the client does not compile without the rest of the project.
 */
export async function buildClientPackage(options: {
  readonly root: string;
  readonly outfile: string;
}): Promise<void> {
  const { root, outfile } = options;
  const folder = mkdtempSync(join(tmpdir(), "assay-client-"));
  try {
    const source = join(folder, "src");
    cpSync(join(root, "src/client"), source, { recursive: true });
    // The project's own file derives the types from schemas, which the package does not have.
    writeFileSync(join(source, "contract-types.ts"), typesOf(CLIENT_SCHEMAS));
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: { ...COMPILER_OPTIONS, rootDir: source, outDir: join(folder, "dist") },
        include: [join(source, "*.ts")],
      }),
    );
    await run([process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder], root);
    const entry = EXPORTED.map((name) => `export * from "./${name}.js";\n`).join("");
    writeFileSync(join(folder, "dist/index.js"), entry);
    writeFileSync(join(folder, "dist/index.d.ts"), entry);
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(PACKAGE, null, 2)}\n`);
    writeFileSync(join(folder, "README.md"), README);
    cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    await run([process.execPath, "pm", "pack", "--quiet", "--destination", join(folder, "packed")], folder);
    const [packed] = readdirSync(join(folder, "packed"));
    if (packed === undefined) throw new Error("nothing was packed");
    mkdirSync(dirname(outfile), { recursive: true });
    cpSync(join(folder, "packed", packed), `${outfile}.part`);
    renameSync(`${outfile}.part`, outfile);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PACKAGE = {
  name: "assay-client",
  version,
  description: "The typed client of Assay.",
  license: "MIT",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
  types: "./dist/index.d.ts",
  files: ["dist"],
};

async function run(command: readonly string[], cwd: string): Promise<void> {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
}
