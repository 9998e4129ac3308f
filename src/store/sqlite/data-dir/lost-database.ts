import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { PART_FOLDER, REPLY_FOLDER } from "../../data-folders.ts";
import { StoreOpenError } from "../../storage-error.ts";
import { databasePath, restoreAdvice } from "./database-file.ts";

/** What is there before the tables are made, also where the first start was ended in its midst, and what systems put in folders. */
const BEFORE_TABLES = /^(?:assay\.|\.|lost\+found$)/;

/**
 * Throws a StoreOpenError where the database of a data directory is missing or an empty file beside what a server makes
 * only after its tables: a start would begin anew, without the accounts.
 */
export function requireNotLost(dataDir: string): void {
  const path = databasePath(dataDir);
  const isThere = existsSync(path);
  if (isThere && statSync(path).size > 0) return;
  const others = isThere ? madeAfterTables(dataDir) : uselessAlone(dataDir);
  if (others.length === 0) return;
  throw new StoreOpenError(
    `The database ${path} is ${isThere ? "empty" : "missing"}, though ${others.join(", ")} beside it came after it: what it held is lost. ${restoreAdvice(path)} To begin anew, set DATA_DIR to an empty directory.`,
  );
}

function madeAfterTables(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !BEFORE_TABLES.test(name))
    .sort();
}

/**
 * Other files may be foreign, or a key, a directory or evidence that a new server is to go on with. The folder of parts
 * may be a disk of its own, mounted before the first start: what is in it counts.
 */
function uselessAlone(dataDir: string): readonly string[] {
  return madeAfterTables(dataDir).filter(
    (name) =>
      name === REPLY_FOLDER || (name === PART_FOLDER && madeAfterTables(join(dataDir, name)).length > 0),
  );
}
