import { ALLOCATOR } from "./processes.ts";

/** The disk that its databases are put on, where one is named. */
const { BENCH_DIR } = process.env;
const BENCH_DISK = BENCH_DIR === undefined ? {} : { BENCH_DIR };

/** A process that says something once it is ready, and then answers each message before the next. */
export type AskedProcess = AsyncDisposable & {
  readonly first: unknown;
  readonly ask: (message: unknown) => Promise<unknown>;
};

/** Starts a file with Bun. It ends when it is disconnected. */
export async function startAsked(
  file: string,
  { words = [], root }: { readonly words?: readonly string[]; readonly root: string },
): Promise<AskedProcess> {
  let next = Promise.withResolvers<unknown>();
  const child = Bun.spawn({
    cmd: [process.execPath, file, ...words],
    cwd: root,
    env: { PATH: process.env.PATH ?? "", ...BENCH_DISK, ...ALLOCATOR },
    stdio: ["ignore", "ignore", "inherit"],
    ipc: (message: unknown) => next.resolve(message),
    onExit: (_, code) => next.reject(new Error(`${file} in ${root} ended with ${code}`)),
  });
  const first = await next.promise;
  return {
    first,
    ask(message) {
      next = Promise.withResolvers();
      child.send(message);
      return next.promise;
    },
    async [Symbol.asyncDispose]() {
      next.promise.catch(() => {});
      child.disconnect();
      await child.exited;
    },
  };
}
