/** A process of the cluster, which is started again when it ends by itself. */
export type Child = {
  readonly pid: () => number;
  /** Ends it, and waits for its end. */
  readonly stop: () => Promise<void>;
};

/** What a process gets that has not ended this long after its SIGTERM. */
type Insistence = { readonly signal: NodeJS.Signals; readonly afterMs: number };

const AGAIN_AFTER_MS = 500;

/** The words before a command that end it with a signal when this process ends, however that ends; none where Linux's are missing. */
export function endedWithParent(signal: "SIGTERM" | "SIGINT"): readonly string[] {
  const setpriv = Bun.which("setpriv");
  return setpriv === null ? [] : [setpriv, "--pdeathsig", signal.slice("SIG".length), "--"];
}

/** Starts a process; what it prints is printed with its name before it. */
export function startChild(
  name: string,
  command: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  insistence?: Insistence,
): Child {
  let isStopping = false;
  let child = start();

  function start(): ReturnType<typeof Bun.spawn> {
    const started = Bun.spawn([...command], {
      env: { ...environment },
      // Ctrl-C reaches all processes of a group, and PostgreSQL would end before those that write to it.
      detached: true,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    void print(name, started.stdout);
    void print(name, started.stderr);
    void started.exited.then(async (code) => {
      if (isStopping) return;
      process.stderr.write(`${name}: ended with ${code ?? started.signalCode}, starts again\n`);
      await Bun.sleep(AGAIN_AFTER_MS);
      if (!isStopping) child = start();
    });
    return started;
  }

  return {
    pid: () => child.pid,
    stop: async () => {
      isStopping = true;
      child.kill("SIGTERM");
      const timer = insistence && setTimeout(() => child.kill(insistence.signal), insistence.afterMs);
      await child.exited;
      clearTimeout(timer);
    },
  };
}

async function print(name: string, output: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of output) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) process.stdout.write(`${name}: ${line}\n`);
  }
}
