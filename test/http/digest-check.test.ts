import { expect, test } from "bun:test";
import { digestCheck } from "../../src/http/bodies/digest-check.ts";

const BODY = Buffer.alloc(1_000_000, "address@example.com\n");
const sha256 = new Bun.CryptoHasher("sha256").update(BODY).digest("base64");
const md5 = new Bun.CryptoHasher("md5").update(BODY).digest("base64");
const HEADER_BYTES = 16_000;

/** The processor's time that some work takes, in ms. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function checkOf(headers: { readonly [name: string]: string }): void {
  const check = digestCheck(new Headers(headers));
  check.update(BODY.subarray(0, 400_000));
  check.update(BODY.subarray(400_000));
  check.check();
}

test("each digest that a header names is compared, and one that differs refuses the body", () => {
  const other = Buffer.alloc(16, 1).toString("base64");
  checkOf({ "content-md5": md5, digest: `SHA-256=${sha256} , md5=${md5}`, "content-digest": `md5=:${md5}:` });
  for (const headers of [
    { digest: `md5=${md5},md5=${other}` },
    { digest: `md5=${md5}`, "content-digest": `md5=:${other}:` },
  ]) {
    expect(() => checkOf(headers)).toThrow("is not the one");
  }
});

test("a header full of digests has the body hashed once", () => {
  const many = Array.from({ length: 600 }, () => `md5=${md5}`).join();
  const once = cpuMs(() => checkOf({ digest: `md5=${md5}` }));
  expect(cpuMs(() => checkOf({ digest: many }))).toBeLessThan(20 * Math.max(once, 2));
});

test("a header full of blanks costs no more than reading it", () => {
  const blanks = `sha-256=${" ".repeat(HEADER_BYTES)}x`;
  const ms = cpuMs(() => {
    for (let round = 0; round < 10; round += 1) {
      expect(() => checkOf({ digest: blanks })).toThrow("must be the digest in base64");
      expect(() => checkOf({ "content-digest": blanks })).toThrow("must name");
    }
  });
  expect(ms).toBeLessThan(300);
});

test("a body that is checked again is the one that it was", () => {
  const check = digestCheck(new Headers({ "content-md5": md5 }));
  check.update(BODY);
  check.check();
  check.check();
});
