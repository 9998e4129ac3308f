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
  /** This one and all that signed before it: what they signed stays good. */
  readonly publicKeys: readonly PublicKey[];
  /** Returns a compact JWS (RFC 7515, EdDSA) whose payload is the canonical JSON of a value. */
  readonly sign: (value: object) => string;
};

const FILE = "signing-key.pem";
const RETIRED_FILE = "retired-signing-keys.json";

/**
 * Returns the key of a data directory, which it makes where it is missing. The file is readable by its owner alone.
 * Throws where it cannot be read or written.
 */
export function openSigningKey(dataDir: string): SigningKey {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeNewKey(path);
  }
  return createSigningKey(createPrivateKey(readFileSync(path)), retiredKeys(dataDir));
}

/**
 * Puts a new key in the place of a data directory's, from the next start on; the old one is published as before, and can
 * sign no more. A crash leaves the old key or the new one. Throws where there is no key.
 */
export function rotateSigningKey(dataDir: string): {
  readonly retired: PublicKey;
  readonly present: PublicKey;
} {
  const path = join(dataDir, FILE);
  if (!existsSync(path)) throw new Error(`There is no ${path}.`);
  const { publicKey: retired, publicKeys } = openSigningKey(dataDir);
  writePrivateFile(join(dataDir, RETIRED_FILE), `${JSON.stringify({ keys: publicKeys })}\n`);
  writeNewKey(path);
  return { retired, present: openSigningKey(dataDir).publicKey };
}

function writeNewKey(path: string): void {
  const { privateKey } = generateKeyPairSync("ed25519");
  writePrivateFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
}

/** The last one first. */
function retiredKeys(dataDir: string): readonly PublicKey[] {
  const path = join(dataDir, RETIRED_FILE);
  if (!existsSync(path)) return [];
  const { keys } = JSON.parse(readFileSync(path, "utf8")) as { readonly keys: readonly PublicKey[] };
  return keys;
}

/** Returns the signer of a private key. Its `kid` is the key's thumbprint (RFC 7638). */
export function createSigningKey(privateKey: KeyObject, retired: readonly PublicKey[] = []): SigningKey {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (privateKey.asymmetricKeyType !== "ed25519" || x === undefined) throw new Error("not an Ed25519 key");
  const kid = createHash("sha256")
    .update(canonicalJson({ crv: "Ed25519", kty: "OKP", x }))
    .digest("base64url");
  const header = encode(canonicalJson({ alg: "EdDSA", kid }));
  const publicKey = publicKeyOf({ kid, x });
  return {
    publicKey,
    publicKeys: [publicKey, ...retired.filter((other) => other.kid !== kid)],
    sign(value) {
      const signed = `${header}.${encode(canonicalJson(value))}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`;
    },
  };
}

/** Returns a key as it is listed. */
export function publicKeyOf({ kid, x }: Pick<PublicKey, "kid" | "x">): PublicKey {
  return { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" };
}

function encode(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}
