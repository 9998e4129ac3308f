/** The root of the files inside a single executable. */
export const EMBEDDED_ROOT = "/$bunfs/root";

/** Returns the command line of a command: `assay NAME` for the executable, `bun run NAME` for the sources. */
export function commandNamed(name: string): string {
  return Bun.main.startsWith(EMBEDDED_ROOT) ? `assay ${name}` : `bun run ${name}`;
}
