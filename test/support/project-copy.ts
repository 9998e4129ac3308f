import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./process.ts";

const ROOT = join(import.meta.dir, "../..");

/** The project as somebody has it who has just fetched it: what git knows, nothing installed. */
export function copyProject(): Disposable & { readonly path: string } {
  const copy = temporaryFolder("project");
  const listed = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  if (!listed.success) throw new Error(`git ls-files: ${listed.stderr}`);
  for (const file of listed.stdout.toString().split("\0")) {
    // One that is removed and not committed yet is still listed.
    if (file !== "" && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(copy.path, file));
  }
  return copy;
}

/** The files of the project, as git knows them, that are not the same in a copy. */
export async function changedIn(copy: string): Promise<readonly string[]> {
  const listed = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: ROOT }).stdout.toString().split("\0");
  const changed: string[] = [];
  for (const file of listed.filter((path) => path !== "" && existsSync(join(ROOT, path)))) {
    const before = Bun.hash(await Bun.file(join(ROOT, file)).bytes());
    if (Bun.hash(await Bun.file(join(copy, file)).bytes()) !== before) changed.push(file);
  }
  return changed;
}
