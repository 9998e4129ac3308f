import type { Static } from "@sinclair/typebox";
import type { Accounts } from "../../accounts/accounts.ts";
import type { CreatedKey, Keys } from "../../accounts/key-list.ts";
import type { RotatedKey } from "../../accounts/key-rotation.ts";
import { DEFAULTS } from "../../contract/defaults.ts";
import type { KeyBody, RotateBody } from "../../contract/result-schemas.ts";
import type { RotatedKeyBody } from "../../contract/specification/accounts/account-replies.ts";
import { createKey, deleteKey, listKeys, rotateKeyById } from "../../contract/specification/accounts/keys.ts";
import type { AccountChange, AccountRouting } from "../account-routes.ts";
import type { Route } from "../routing.ts";

export type KeyRouteDependencies = {
  readonly accountRouting: AccountRouting;
  readonly accounts: Accounts;
  readonly keys: Keys;
};

/** The keys of an account: made, listed, exchanged and deleted by one that has the scope `account`. */
export function keyRoutes({ accountRouting, accounts, keys }: KeyRouteDependencies): readonly Route[] {
  const { read, change, remove } = accountRouting;
  return [
    read(listKeys, ({ accountId }) => keys.list(accountId)),
    change(createKey, creation(keys)),
    change(rotateKeyById, rotation(accounts)),
    remove(deleteKey, ({ accountId }, { params }) => keys.remove(accountId, params.key_id ?? "")),
  ];
}

function creation(keys: Keys): AccountChange<Static<typeof KeyBody>, CreatedKey, CreatedKey> {
  return {
    status: 201,
    make: ({ accountId }, { mode, name, scopes, expires_at }, replyOf) =>
      keys.create(
        accountId,
        { mode: mode ?? "live", name: name ?? null, scopes: scopes ?? null, expiresAt: expires_at ?? null },
        replyOf,
      ),
    viewOf: (created) => created,
    secret: false,
  };
}

function rotation(accounts: Accounts): AccountChange<Static<typeof RotateBody>, RotatedKey, RotatedKeyBody> {
  return {
    status: 201,
    make: ({ accountId }, { overlap_seconds }, replyOf, { params }) =>
      accounts.rotateKey(
        accountId,
        { overlapSeconds: overlap_seconds ?? DEFAULTS.overlapSeconds, keyId: params.key_id ?? "" },
        replyOf,
      ),
    viewOf: ({ apiKey, oldKeyExpiresAt }) => ({ api_key: apiKey, old_key_expires_at: oldKeyExpiresAt }),
    secret: true,
  };
}
