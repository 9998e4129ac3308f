import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A headless Chromium with one page, spoken to by the DevTools protocol. */
export type Browser = AsyncDisposable & {
  readonly open: (url: string) => Promise<void>;
  /** Runs the expression in the page and returns its value, awaited. */
  readonly evaluate: <Value>(expression: string) => Promise<Value>;
  /** Waits until the expression is true in the page. */
  readonly until: (expression: string) => Promise<void>;
  /** Every address that the page has asked for. */
  readonly requested: () => readonly string[];
  /** What the page wrote to its console as an error, and what its policy forbade. */
  readonly complaints: () => readonly string[];
  readonly screenshot: () => Promise<Uint8Array>;
  /** Shows pages as on a screen of this size, in pixels. */
  readonly resize: (width: number, height: number) => Promise<void>;
};

export const CHROMIUM = Bun.which("chromium");

const DEADLINE_MS = 10_000;
const POLL_MS = 50;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--window-size=1280,2000",
  "--remote-debugging-port=0",
];

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: { readonly [name: string]: unknown };
};

export async function startBrowser(program: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "assay-browser-"));
  const child = Bun.spawn({
    cmd: [program, ...FLAGS, `--user-data-dir=${profile}`, "about:blank"],
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const port = new URL(await devToolsAddress(child.stderr)).port;
  const pages = await fetch(`http://127.0.0.1:${port}/json`);
  const [page] = (await pages.json()) as { webSocketDebuggerUrl: string }[];
  const requested: string[] = [];
  const complaints: string[] = [];
  const send = await connect(page?.webSocketDebuggerUrl ?? "", (method, params) => {
    if (method === "Network.requestWillBeSent") requested.push((params.request as { url: string }).url);
    if (method === "Log.entryAdded") {
      const { level, text, url } = params.entry as { level: string; text: string; url?: string };
      if (level === "error") complaints.push(`${text} ${url ?? ""}`);
    }
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params));
  });
  for (const domain of ["Network", "Log", "Runtime", "Page"]) await send(`${domain}.enable`);
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`In the page: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: Value }).value;
  };
  return {
    evaluate,
    requested: () => requested,
    complaints: () => complaints,
    async open(url) {
      await send("Page.navigate", { url });
    },
    async resize(width, height) {
      await send("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      });
    },
    async until(expression) {
      const deadline = performance.now() + DEADLINE_MS;
      while (!(await evaluate<boolean>(expression))) {
        if (performance.now() > deadline) throw new Error(`In the page it never came to: ${expression}`);
        await Bun.sleep(POLL_MS);
      }
    },
    async screenshot() {
      const { data } = await send("Page.captureScreenshot", { format: "png" });
      return Buffer.from(String(data), "base64");
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function devToolsAddress(stderr: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  const reader = stderr.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    said += decoder.decode(value, { stream: true });
    const address = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
    if (address !== undefined) {
      void drain(reader);
      return address;
    }
    if (done) throw new Error(`The browser did not start: ${said}`);
  }
}

async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done) {
    // What is not read would block the browser once the pipe is full.
  }
}

type Send = (method: string, params?: object) => Promise<{ readonly [name: string]: unknown }>;

async function connect(
  address: string,
  onEvent: (method: string, params: { readonly [name: string]: unknown }) => void,
): Promise<Send> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.method !== undefined) onEvent(message.method, message.params ?? {});
  });
  let sent = 0;
  return (method, params = {}) => {
    sent += 1;
    const id = sent;
    return new Promise((resolve) => {
      waiting.set(id, (message) => {
        waiting.delete(id);
        resolve(message.result ?? {});
      });
      socket.send(JSON.stringify({ id, method, params }));
    });
  };
}
