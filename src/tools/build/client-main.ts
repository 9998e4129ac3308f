import { join, resolve } from "node:path";
import { version } from "../../../package.json" with { type: "json" };
import { buildClientPackage } from "./client-package.ts";

/** Makes the client's npm package: `bun run build:client [FILE]`. */

const root = join(import.meta.dir, "../../..");
const outfile = resolve(process.argv[2] ?? join(root, `dist/assay-client-${version}.tgz`));
await buildClientPackage({ root, outfile });
process.stdout.write(`${outfile}\n`);
