import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";
import { buildConsole, type ConsoleFiles } from "../../console/bundle.ts";
import { EMBEDDED_ROOT } from "../../platform/command-name.ts";

const PISCINA = "node_modules/piscina/dist";

/** The command line comes first; the others are the files that threads start with. */
const ENTRIES = [
  "src/tools/build/executable.ts",
  "workers/batch.ts",
  "workers/jobs.ts",
  "workers/directory-sync.ts",
  "workers/job-intake.ts",
  `${PISCINA}/worker.js`,
];

/**
 * Builds the project into one file for this kind of machine: the runtime, the server, its commands, worker
 * threads, migrations and data. An executable that is there already is replaced in one step, so one that runs
 * goes on.
 */
export async function buildExecutable(options: {
  readonly root: string;
  readonly outfile: string;
}): Promise<{ readonly bytes: number }> {
  const { root, outfile } = options;
  mkdirSync(dirname(outfile), { recursive: true });
  const folder = mkdtempSync(join(dirname(outfile), ".build-"));
  const built = join(folder, basename(outfile));
  try {
    // Before the other build: one that is begun inside of another never ends.
    const consoleFiles = await buildConsole();
    await Bun.build({
      entrypoints: ENTRIES.map((entry) => join(root, entry)),
      root,
      target: "bun",
      format: "esm",
      // Code that entries share is one module for all of them. Without it a worker's `move` is not the `move`
      // that piscina's thread knows, and results do not arrive.
      splitting: true,
      // Parsed beforehand, which halves the time to the first answer.
      bytecode: true,
      sourcemap: "inline",
      compile: { outfile: built },
      plugins: [builtConsole(consoleFiles), ownAddresses(root)],
    });
    renameSync(built, outfile);
    return { bytes: statSync(outfile).size };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts the console's built files in the place of the module that builds them: an executable has no source. */
function builtConsole(files: ConsoleFiles): BunPlugin {
  return {
    name: "built console",
    setup(build) {
      build.onLoad({ filter: /\/src\/console\/bundle\.ts$/ }, () => ({
        contents: `export const buildConsole = async () => (${JSON.stringify(files)});`,
        loader: "ts",
      }));
    },
  };
}

/**
 * Gives modules the addresses that they have in the project. In an executable all modules of a bundle share
 * the address of the bundle, so that `new URL("../workers/batch.ts", import.meta.url)` leads nowhere; and
 * piscina's `__dirname` is written out as the folder on the machine that built it, from which its threads would
 * load `worker.js`: right there, missing everywhere else.
 */
function ownAddresses(root: string): BunPlugin {
  const place = (path: string) => `${EMBEDDED_ROOT}/${relative(root, path)}`;
  return {
    name: "own addresses",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
        if (!path.startsWith(join(root, "src/"))) return undefined;
        const text = await Bun.file(path).text();
        const address = JSON.stringify(`file://${place(path)}`);
        return { contents: text.replaceAll("import.meta.url", address), loader: "ts" };
      });
      build.onLoad({ filter: /\/piscina\/dist\/index\.js$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        if (!text.includes("(__dirname, 'worker.js')")) {
          throw new Error(`${path} no longer names its worker.js in the way that is replaced here`);
        }
        return { contents: text.replaceAll("__dirname", JSON.stringify(dirname(place(path)))), loader: "js" };
      });
    },
  };
}
