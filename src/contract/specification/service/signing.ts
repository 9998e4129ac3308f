import { Type } from "@sinclair/typebox";
import { jsonReply, operation } from "../operation.ts";
import { text } from "../reply-schema.ts";

export const SigningKeys = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal("OKP"),
        crv: Type.Literal("Ed25519"),
        x: text("The public key in base64url."),
        kid: text("The key's thumbprint, as in the header of a signature."),
        use: Type.Literal("sig"),
        alg: Type.Literal("EdDSA"),
      }),
    ),
  },
  { $id: "SigningKeys" },
);

export const getSigningKeys = operation({
  operationId: "getSigningKeys",
  method: "GET",
  path: "/.well-known/jwks.json",
  tag: "Operation",
  summary: "The keys that this server signs with",
  description:
    "A signature is a compact JWS whose payload is the signed reply without its `signature`, in canonical JSON (RFC 8785).",
  access: "public",
  replies: {
    200: jsonReply("A JSON Web Key Set.", SigningKeys, ["Cache-Control"]),
  },
});
