import { join } from "node:path";

/** The files of the page, as they are served. */
export type ConsoleFiles = { readonly script: string; readonly worker: string; readonly style: string };

const PAGE = join(import.meta.dir, "page");
const STYLES = join(PAGE, "styles");

/**
 * Bundles the page from its source in some 50 ms. An executable has no source: there this module is replaced by the files
 * that were built with it. Throws with the bundler's message.
 */
export async function buildConsole(): Promise<ConsoleFiles> {
  const [script, worker, style] = await Promise.all([
    bundled(join(PAGE, "main.tsx")),
    bundled(join(PAGE, "reading", "list-reader.ts")),
    styleSheet(),
  ]);
  return { script, worker, style };
}

async function bundled(entry: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "esm",
    minify: true,
    sourcemap: "none",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`nothing was built of ${entry}`);
  return output.text();
}

/** The style sheets one after another, by name. */
async function styleSheet(): Promise<string> {
  const names = [...new Bun.Glob("*.css").scanSync({ cwd: STYLES })].sort();
  const texts = await Promise.all(names.map((name) => Bun.file(join(STYLES, name)).text()));
  return texts.join("\n");
}
