import { getSigningKeys } from "../../contract/specification/signing.ts";
import type { SigningKey } from "../../signing/signing-key.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type SigningKeyDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly signingKey: () => Pick<SigningKey, "publicKeys"> | Promise<Pick<SigningKey, "publicKeys">>;
};

/** `GET /.well-known/jwks.json`. */
export function signingKeyRoutes({ routing, signingKey }: SigningKeyDependencies): readonly Route[] {
  return [
    routing.public(getSigningKeys, async () => ({
      ...json({ keys: (await signingKey()).publicKeys }),
      headers: { "Cache-Control": "public, max-age=300" },
    })),
  ];
}
