import { join, resolve } from "node:path";
import { runFileCommand } from "../command.ts";
import { buildExecutable } from "./bundle.ts";

const USAGE = "bun run build [FILE]     builds the single executable, dist/assay unless said";

await runFileCommand(USAGE, async (file) => {
  const root = join(import.meta.dir, "../../..");
  const outfile = resolve(file ?? join(root, "dist/assay"));
  const { bytes } = await buildExecutable({ root, outfile });
  process.stdout.write(`${outfile}: ${Math.round(bytes / 1e6)} MB\n`);
  return 0;
});
