import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "./private-file.ts";

const FILE = "service-secret";
const SECRET_BYTES = 32;

/**
 * Returns the secret of a data directory, in hex, which it makes where it is missing. The file is readable by its owner
 * alone. Throws where it cannot be read or written.
 */
export function openSecret(dataDir: string, randomBytes: (count: number) => Uint8Array): string {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) {
    writePrivateFile(path, Buffer.from(randomBytes(SECRET_BYTES)).toString("hex"));
  }
  const secret = readFileSync(path, "utf8").trim();
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error(`${path} cannot be read`);
  return secret;
}
