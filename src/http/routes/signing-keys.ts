import { getSigningKeys } from "../../contract/specification/service/signing.ts";
import type { Answer } from "../../platform/answer.ts";
import type { PublicKey } from "../../signing/signing-key.ts";
import { json } from "../reply.ts";
import type { Route, Routing } from "../routing.ts";

export type SigningKeyDependencies = {
  readonly routing: Pick<Routing, "public">;
  readonly publicKeys: () => Answer<readonly PublicKey[]>;
};

/** `GET /.well-known/jwks.json`. */
export function signingKeyRoutes({ routing, publicKeys }: SigningKeyDependencies): readonly Route[] {
  return [
    routing.public(getSigningKeys, async () => ({
      ...json({ keys: await publicKeys() }),
      headers: { "Cache-Control": "public, max-age=300" },
    })),
  ];
}
