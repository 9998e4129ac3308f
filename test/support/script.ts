import { existsSync, readdirSync, readFileSync } from "node:fs";

export type ScriptOptions = {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
};

/** What an install says where a registry cannot be reached or breaks off: no fault of what is installed. */
export const NETWORK_FAILURE =
  /ECONN|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|network|registry cannot be reached|ConnectionRefused|socket hang up/;

/** Starts a shell script as a reader would, in a process group of its own: with it all that it starts can be ended. */
export function spawnScript(script: string, { cwd, env }: ScriptOptions) {
  return Bun.spawn(["bash", "-ec", script], { cwd, env, stdout: "pipe", stderr: "pipe", detached: true });
}

const GROUP_ENDS_WITHIN_MS = 10_000;

/**
 * Asks all that a script has started to end, and waits for it, but not for ever: the script itself, such as a wrapper of a
 * server, may end before the rest.
 */
export async function endScript({ pid, exited }: Pick<Bun.Subprocess, "pid" | "exited">): Promise<void> {
  signalGroup(pid, "SIGTERM");
  await exited;
  const untilMs = performance.now() + GROUP_ENDS_WITHIN_MS;
  while (signalGroup(pid, 0) && performance.now() < untilMs) await Bun.sleep(20);
}

/** Returns whether there is anything left of a group. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Returns whether a process is left whose environment has a text in it; true where Linux's list of them is missing. */
export function isAnyLeftWith(text: string): boolean {
  if (!existsSync("/proc/self/environ")) return true;
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && environmentOf(name).includes(text));
}

/** Empty for a process that has ended meanwhile, or is another user's. */
function environmentOf(processId: string): string {
  try {
    return readFileSync(`/proc/${processId}/environ`, "utf8");
  } catch {
    return "";
  }
}

/** Returns what a process has written to both of its outputs, and its exit code, once it has ended. */
export async function outcomeOf(child: Bun.Subprocess<"ignore" | undefined, "pipe", "pipe">) {
  const [printed, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { printed, complaint, exitCode: await child.exited };
}

/** Runs a shell script and returns what it printed. Throws with both outputs where it fails. */
export async function runScript(script: string, options: ScriptOptions): Promise<string> {
  const { printed, complaint, exitCode } = await outcomeOf(spawnScript(script, options));
  if (exitCode !== 0) {
    throw new Error(`${script}\nended with ${exitCode}\n${printed.slice(-2000)}${complaint}`);
  }
  return printed;
}
