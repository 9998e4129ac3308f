/** Returns the folder of the programs of the newest PostgreSQL that Debian has installed, or null. */
export function postgresPrograms(): string | null {
  const found = new Bun.Glob("/usr/lib/postgresql/*/bin").scanSync({ onlyFiles: false });
  return [...found].sort().at(-1) ?? null;
}

/**
 * Returns the words before a command that make it run as the user of Debian's package, where this user is root: as root
 * PostgreSQL refuses to run.
 */
export function asPostgresUser(): readonly string[] {
  const isRoot = process.getuid?.() === 0;
  return isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] : [];
}

/** Returns that user's number, where this user is root. */
export async function postgresOwner(): Promise<number | null> {
  return process.getuid?.() === 0 ? Number((await runCommand(["id", "-u", "postgres"])).trim()) : null;
}

/** Runs a command to its end and returns what it wrote; throws what it complained of where it failed. */
export async function runCommand(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe" });
  const [text, problems, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${problems}`);
  return text;
}
