import { join, resolve } from "node:path";
import { buildExecutable } from "./bundle.ts";

/** Builds the single executable: `bun run build [FILE]`. */

const root = join(import.meta.dir, "../../..");
const outfile = resolve(process.argv[2] ?? join(root, "dist/assay"));
const { bytes } = await buildExecutable({ root, outfile });
process.stdout.write(`${outfile}: ${Math.round(bytes / 1e6)} MB\n`);
