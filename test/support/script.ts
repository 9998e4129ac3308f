export type ScriptOptions = {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
};

/** Starts a shell script as a reader would, in a process group of its own: with it all that it starts can be ended. */
export function spawnScript(script: string, { cwd, env }: ScriptOptions) {
  return Bun.spawn(["bash", "-ec", script], { cwd, env, stdout: "pipe", stderr: "pipe", detached: true });
}

/** Runs a shell script and returns what it printed. Throws with both outputs where it fails. */
export async function runScript(script: string, options: ScriptOptions): Promise<string> {
  const child = spawnScript(script, options);
  const [printed, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const exitCode = await child.exited;
  if (exitCode !== 0) {
    throw new Error(`${script}\nended with ${exitCode}\n${printed.slice(-2000)}${complaint}`);
  }
  return printed;
}
