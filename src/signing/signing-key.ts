import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson } from "./canonical-json.ts";
import { writePrivateFile } from "./private-file.ts";

/** A public key as `/.well-known/jwks.json` lists it (RFC 7517, RFC 8037). */
export type PublicKey = {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly kid: string;
  readonly use: "sig";
  readonly alg: "EdDSA";
};

/** Signs what this server says, so that anyone can hold it to its word. */
export type SigningKey = {
  readonly publicKey: PublicKey;
  /** Returns a compact JWS (RFC 7515, EdDSA) whose payload is the canonical JSON of a value. */
  readonly sign: (value: object) => string;
};

const FILE = "signing-key.pem";

/**
 * Returns the key of a data directory, which it makes where there is none. The file is readable by its owner alone.
 * Throws where it cannot be read or written.
 */
export function openSigningKey(dataDir: string): SigningKey {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync("ed25519");
    writePrivateFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  }
  return createSigningKey(createPrivateKey(readFileSync(path)));
}

/** Returns the signer of a private key. Its `kid` is the key's thumbprint (RFC 7638). */
export function createSigningKey(privateKey: KeyObject): SigningKey {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (privateKey.asymmetricKeyType !== "ed25519" || x === undefined) throw new Error("not an Ed25519 key");
  const kid = createHash("sha256")
    .update(canonicalJson({ crv: "Ed25519", kty: "OKP", x }))
    .digest("base64url");
  const header = encode(canonicalJson({ alg: "EdDSA", kid }));
  return {
    publicKey: { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" },
    sign(value) {
      const signed = `${header}.${encode(canonicalJson(value))}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    },
  };
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}
