import { ApiError } from "../../contract/errors.ts";

/** Compares the bytes of a body, before they are decoded, with the digests in its headers. */
export type DigestCheck = {
  readonly update: (bytes: Uint8Array) => void;
  /** Throws `invalid_request` where a digest differs. */
  readonly check: () => void;
};

type Expected = { readonly header: string; readonly algorithm: Algorithm; readonly digest: Buffer };

const ALGORITHMS = { md5: 16, "sha-256": 32, "sha-512": 64 } as const;
type Algorithm = keyof typeof ALGORITHMS;

/**
 * Reads `Content-MD5` (RFC 1864), `Digest` (RFC 3230) and `Content-Digest` (RFC 9530). Throws `invalid_request` for a digest
 * that cannot be checked: none is ignored. The body is hashed once for each algorithm.
 */
export function digestCheck(headers: Headers): DigestCheck {
  const expected: Expected[] = [];
  const hashes = new Map<Algorithm, Bun.CryptoHasher>();
  const expect = (header: string, algorithm: Algorithm, text: string) => {
    const digest = Buffer.from(text, "base64");
    if (digest.byteLength !== ALGORITHMS[algorithm] || digest.toString("base64") !== text) {
      throw new ApiError("invalid_request", `${header}: ${algorithm} must be the digest in base64.`);
    }
    if (!hashes.has(algorithm)) hashes.set(algorithm, new Bun.CryptoHasher(hasherName(algorithm)));
    expected.push({ header, algorithm, digest });
  };
  const md5 = headers.get("content-md5");
  if (md5 !== null) expect("Content-MD5", "md5", md5.trim());
  for (const [header, pattern] of DIGEST_HEADERS) {
    const value = headers.get(header);
    if (value === null) continue;
    const known = value.split(",").flatMap((member) => memberOf(member, pattern));
    if (known.length === 0) {
      throw new ApiError("invalid_request", `${header} must name sha-256, sha-512 or md5.`);
    }
    for (const { algorithm, text } of known) expect(header, algorithm, text);
  }
  let found: ReadonlyMap<Algorithm, Buffer> | null = null;
  return {
    update(bytes) {
      for (const hash of hashes.values()) hash.update(bytes);
    },
    check() {
      // A hash gives its digest once: the next one is that of nothing.
      found ??= new Map([...hashes].map(([algorithm, hash]) => [algorithm, Buffer.from(hash.digest())]));
      for (const { header, algorithm, digest } of expected) {
        if (found.get(algorithm)?.equals(digest) === true) continue;
        throw new ApiError("invalid_request", `The body is not the one that ${header} was made of.`);
      }
    },
  };
}

const DIGEST_HEADERS = [
  ["Digest", /^([\w-]+)=(.*)$/],
  ["Content-Digest", /^([\w-]+)=:(.*):$/],
] as const;

function memberOf(member: string, pattern: RegExp): { algorithm: Algorithm; text: string }[] {
  const [, name = "", text = ""] = pattern.exec(member.trim()) ?? [];
  const algorithm = name.toLowerCase();
  return isAlgorithm(algorithm) ? [{ algorithm, text }] : [];
}

function isAlgorithm(name: string): name is Algorithm {
  return Object.hasOwn(ALGORITHMS, name);
}

function hasherName(algorithm: Algorithm): "md5" | "sha256" | "sha512" {
  return algorithm === "md5" ? "md5" : algorithm === "sha-256" ? "sha256" : "sha512";
}
