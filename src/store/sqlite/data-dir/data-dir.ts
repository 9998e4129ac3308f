import { lockDataDir } from "./data-dir-lock.ts";
import { prepareDataDir } from "./database-file.ts";

/** Makes a data directory where it is missing and takes it for this process alone. Throws a StoreOpenError. */
export function holdDataDir(dataDir: string): Disposable {
  prepareDataDir(dataDir);
  const { release } = lockDataDir(dataDir);
  return { [Symbol.dispose]: release };
}
