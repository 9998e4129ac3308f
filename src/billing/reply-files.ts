import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { asStorage, type GrowingBody, growBody, PART, readBody } from "./body-file.ts";

export type ReplyFiles = {
  /** `take` is called with the bytes of each write before it; it throws where there is no room. */
  readonly create: (name: string, secret: string, take: (bytes: number) => void) => Promise<GrowingBody>;
  /** Returns the body as it was written. Its stream fails where the file was changed or truncated. */
  readonly read: (name: string, secret: string) => ReadableStream<Uint8Array>;
  readonly pathOf: (name: string) => string;
  /** Removes a file; one that is gone already is passed over. */
  readonly remove: (name: string) => Promise<void>;
  /** Removes every file but those of `keptNames`, which is called after the files are listed. */
  readonly prune: (keptNames: () => ReadonlySet<string>) => Promise<void>;
};

/** The bodies of kept replies as files in one directory, under a temporary name until they are complete. */
export function createReplyFiles(directory: string, bodyBytesMax: number): ReplyFiles {
  const pathOf = (name: string): string => join(directory, name);

  /** Creates the directory, or takes it from all but its owner. */
  async function makeDirectory(): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
  }

  return {
    pathOf,
    create: (name, secret, take) =>
      asStorage(async () => {
        await makeDirectory();
        return growBody({ directory, path: pathOf(name), bodyBytesMax, take, secret, name });
      }),
    remove: (name) => asStorage(() => rm(pathOf(name), { force: true })),
    read: (name, secret) => readBody(pathOf(name), secret, name),
    prune: (keptNames) =>
      asStorage(async () => {
        await makeDirectory();
        const names = await readdir(directory);
        const kept = keptNames();
        const lost = names.filter(
          (name) => !kept.has(name.endsWith(PART) ? name.slice(0, -PART.length) : name),
        );
        for (const name of lost) await rm(pathOf(name), { force: true });
      }),
  };
}
