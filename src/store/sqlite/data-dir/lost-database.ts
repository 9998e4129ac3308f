import { existsSync, readdirSync, statSync } from "node:fs";
import { StoreOpenError } from "../../storage-error.ts";
import { databasePath, restoreAdvice } from "./database-file.ts";

/** What is there before the tables are made, also where the first start was ended in its midst, and what systems put in folders. */
const BEFORE_TABLES = /^(?:assay\.|\.|lost\+found$)/;

/**
 * Throws a StoreOpenError where the database of a data directory is an empty file beside others, which a server makes only
 * after its tables: a start would begin anew, without the accounts.
 */
export function requireNotLost(dataDir: string): void {
  const path = databasePath(dataDir);
  if (!existsSync(path) || statSync(path).size > 0) return;
  const others = readdirSync(dataDir).filter((name) => !BEFORE_TABLES.test(name));
  if (others.length === 0) return;
  throw new StoreOpenError(
    `The database ${path} is empty, though ${others.sort().join(", ")} beside it came after it: what it held is lost. ${restoreAdvice(path)} To begin anew, set DATA_DIR to an empty directory.`,
  );
}
