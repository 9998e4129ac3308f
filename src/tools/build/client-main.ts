import { join, resolve } from "node:path";
import { version } from "../../../package.json" with { type: "json" };
import { runFileCommand } from "../command.ts";
import { buildClientPackage } from "./client-package.ts";

const NAME = `dist/assay-client-${version}.tgz`;
const USAGE = `bun run build:client [FILE]     makes the client's npm package, ${NAME} unless said`;

await runFileCommand(USAGE, async (file) => {
  const root = join(import.meta.dir, "../../..");
  const outfile = resolve(file ?? join(root, NAME));
  await buildClientPackage({ root, outfile });
  process.stdout.write(`${outfile}\n`);
  return 0;
});
