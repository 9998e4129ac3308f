/** Below it a single executable has the files that were built into it. */
export const EMBEDDED_ROOT = "/$bunfs/root";

/** Returns how a command of this program is called: `assay NAME` of the executable, `bun run NAME` of the sources. */
export function commandNamed(name: string): string {
  return Bun.main.startsWith(EMBEDDED_ROOT) ? `assay ${name}` : `bun run ${name}`;
}
