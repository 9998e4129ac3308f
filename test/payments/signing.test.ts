import { expect, test } from "bun:test";
import { createPublicKey, verify } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson } from "../../src/signing/canonical-json.ts";
import { openSigningKey, rotateSigningKey } from "../../src/signing/signing-key.ts";

test("canonical JSON is that of RFC 8785", () => {
  // Section 3.2.3 and 3.2.4 of the RFC.
  const value = {
    "€": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "😀": "Emoji: Grinning Face",
    "\u0080": "Control",
    ö: "Latin Small Letter O With Diaeresis",
  };
  expect(Object.values(JSON.parse(canonicalJson(value)))).toHaveLength(7);
  const order = [...canonicalJson(value).matchAll(/"([^"]+)":"([^"]+)"/g)].map(([, , text]) => text);
  expect(order).toEqual([
    "Carriage Return",
    "One",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
  expect(canonicalJson([333333333.3333333, 1e30, 4.5, 2e-3, 1e-27, null, true])).toBe(
    "[333333333.3333333,1e+30,4.5,0.002,1e-27,null,true]",
  );
  expect(canonicalJson({ b: undefined, a: '\u20ac$\u000f\nA\'B"\\\\"/' })).toBe(
    '{"a":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  expect(() => canonicalJson(Number.NaN)).toThrow();
  expect(() => canonicalJson("\ud800")).toThrow();
});

test("a signature is a JWS that the published key verifies, and the key outlives the process", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-key-"));
  const { publicKey, sign } = openSigningKey(folder);
  const [header = "", payload = "", signature = ""] = sign({ b: 1, a: "x" }).split(".");
  const read = (part: string) => Buffer.from(part, "base64url");
  expect(JSON.parse(read(header).toString())).toEqual({ alg: "EdDSA", kid: publicKey.kid });
  expect(read(payload).toString()).toBe('{"a":"x","b":1}');
  const key = createPublicKey({ key: { ...publicKey }, format: "jwk" });
  expect(verify(null, Buffer.from(`${header}.${payload}`), key, read(signature))).toBe(true);
  expect(verify(null, Buffer.from(`${header}.x${payload}`), key, read(signature))).toBe(false);
  expect(openSigningKey(folder).publicKey).toEqual(publicKey);
  expect(statSync(join(folder, "signing-key.pem")).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});

test("a new key takes the place of the old one, which stays published and can sign no more", () => {
  const folder = mkdtempSync(join(tmpdir(), "assay-key-"));
  expect(() => rotateSigningKey(folder)).toThrow("There is no");
  const first = openSigningKey(folder);
  const { retired, present } = rotateSigningKey(folder);
  expect(retired).toEqual(first.publicKey);
  expect(openSigningKey(folder).publicKeys).toEqual([present, first.publicKey]);
  const { present: third } = rotateSigningKey(folder);
  expect(openSigningKey(folder).publicKeys).toEqual([third, present, first.publicKey]);
  expect(statSync(join(folder, "signing-key.pem")).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
});
