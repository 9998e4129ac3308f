import { eq, sql } from "drizzle-orm";
import { madeOnce } from "../../../platform/made-once.ts";
import type { KeyUse } from "../../account-records.ts";
import type { Orm } from "../connection/orm.ts";
import { apiKeys } from "../schema.ts";

export type KeyUseStatements = ReturnType<typeof createKeyUseStatements>;

/** The hours in which keys were used last. */
export function createKeyUseStatements(orm: Orm) {
  // With each hour it runs once for every key that is in use.
  const mark = madeOnce(() =>
    orm
      .update(apiKeys)
      .set({ lastUsedAt: sql`${sql.placeholder("lastUsedAt")}` })
      .where(eq(apiKeys.keyHash, sql.placeholder("keyHash")))
      .prepare(),
  ).get;

  return {
    mark: (use: KeyUse): void => {
      mark().run(use);
    },
  };
}
