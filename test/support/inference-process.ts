import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ENTRY = join(import.meta.dir, "../../src/inference-service.ts");

/** The inference service in a process of its own. */
export type InferenceProcess = {
  readonly url: string;
  /** CPU time of the process so far, the kernel's work for it included. */
  readonly cpuMs: () => number;
  /** What it has written so far: its log, and what it says at the start. */
  readonly said: () => string;
  /** Resolves once all that it has written is in `said`. What its log gathers is lost. */
  readonly kill: () => Promise<void>;
  /** The same by SIGTERM: it says all that it has to say. */
  readonly end: () => Promise<void>;
};

/** Starts the service with these settings and returns once it listens. */
export function startInferenceProcess(environment: {
  readonly [name: string]: string;
}): Promise<InferenceProcess> {
  return startListening([ENTRY], environment);
}

/** Starts a program that says `listens on` and its address, and returns once it does. */
export async function startListening(
  program: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<InferenceProcess> {
  const child = Bun.spawn([process.execPath, ...program], {
    env: { ...process.env, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const listening = Promise.withResolvers<void>();
  const listen = async (output: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const part of output) {
      said += decoder.decode(part, { stream: true });
      if (/listens on \S+\s/.test(said)) listening.resolve();
    }
  };
  const heard = Promise.all([listen(child.stdout), listen(child.stderr)]);
  void heard.then(() => listening.reject(new Error(`the service did not start: ${said}`)));
  await listening.promise;
  const endBy = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await Promise.all([child.exited, heard]);
  };
  return {
    url: /listens on (\S+)/.exec(said)?.[1] ?? "",
    said: () => said,
    cpuMs() {
      const tasks = readdirSync(`/proc/${child.pid}/task`);
      const spent = tasks.map((task) => readFileSync(`/proc/${child.pid}/task/${task}/schedstat`, "utf8"));
      return spent.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
    },
    kill: () => endBy("SIGKILL"),
    end: () => endBy("SIGTERM"),
  };
}
