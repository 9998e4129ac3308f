import { desc } from "drizzle-orm";
import type { SigningPort } from "../../signing-port.ts";
import type { Connection } from "../connection/connection.ts";
import { SERVER_NOW } from "../connection/server-clock.ts";
import { signingKeys } from "../schema.ts";

/** The public keys of all nodes. */
export function createSigningCases({ transact, read }: Connection): SigningPort {
  return {
    shareSigningKeys: (keys) =>
      transact(async (orm) => {
        const rows = keys.map(({ kid, x }) => ({ kid, x, sharedAt: SERVER_NOW }));
        await orm.insert(signingKeys).values(rows).onConflictDoNothing();
      }),
    sharedSigningKeys: () =>
      read((orm) =>
        orm
          .select({ kid: signingKeys.kid, x: signingKeys.x })
          .from(signingKeys)
          .orderBy(desc(signingKeys.sharedAt), signingKeys.kid),
      ),
  };
}
