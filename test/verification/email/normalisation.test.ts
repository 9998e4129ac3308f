import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseAddress } from "../../../src/verification/email/address.ts";
import type { DomainFacts } from "../../../src/verification/email/domain-facts.ts";
import { allProviders } from "../../../src/verification/email/providers.ts";
import rowsText from "../../vectors/email/normalisation.txt" with { type: "text" };
import { verifiedBy } from "./facts.ts";
import { rowsOf } from "./vectors.ts";

function keyOf(address: string, host: string): string {
  return verifiedBy(address, (domain) => factsWith(domain, host)).normalized;
}

function factsWith(domain: string, host: string): DomainFacts {
  const lists = { disposable: null, freeProvider: false };
  if (host === "-") return { domain, mail: { state: "not_checked" }, lists };
  const marks = { cname: false, partlyDead: false, nullMixed: false };
  return { domain, mail: { state: "mx", hosts: [host], targets: "public", ...marks }, lists };
}

describe("the key of a mailbox", () => {
  for (const [address = "", host = "", key = ""] of rowsOf(rowsText)) {
    test(`${address} with mail at ${host} has the key ${key}`, () => {
      expect(keyOf(address, host)).toBe(key);
    });
  }

  test("is empty for an address of invalid syntax, and not for one of a reserved domain", () => {
    expect(keyOf("a b@example.com", "-")).toBe("");
    expect(keyOf("Ann@example.test", "-")).toBe("ann@example.test");
  });

  test("is composed after characters are removed, and never begins with a combining mark", () => {
    expect(keyOf("a.\u0301b@gmail.com", "-")).toBe("\u00e1b@gmail.com");
    expect(keyOf("-\u0301b@proton.me", "-")).toBe("-\u0301b@proton.me");
  });

  test("is the same in upper and lower case, for every provider", () => {
    const locals = fc.stringMatching(/^[a-z0-9_-]{1,8}([.+_-]{1,2}[a-z0-9_-]{1,8}){0,4}$/);
    const domains = fc.constantFrom(...allProviders().keys(), "acme-tools.com", "jane-roe.fastmail.com");
    fc.assert(
      fc.property(locals, domains, (local, domain) => {
        const [lower, upper] = [`${local}@${domain}`, `${local.toUpperCase()}@${domain}`];
        for (const host of ["-", "aspmx.l.google.com"]) expect(keyOf(upper, host)).toBe(keyOf(lower, host));
      }),
      { numRuns: 5_000 },
    );
  });

  test("is its own key", () => {
    const domains = fc.oneof(
      fc.constantFrom(...allProviders().keys(), "acme-tools.com", "müller.de", "jane-roe.fastmail.com"),
      fc.domain(),
    );
    const local = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
    const marked = fc.array(fc.constantFrom("a", "B", "+", ".", "-", "_", "İ", "ß", "Σ", "1", "\u0301"), {
      minLength: 1,
    });
    const locals = fc.oneof(
      local,
      marked.map((parts) => parts.join("")),
    );
    let accepted = 0;
    fc.assert(
      fc.property(locals, domains, fc.constantFrom("-", "aspmx.l.google.com"), (name, domain, host) => {
        const address = `${name}@${domain}`;
        if (!parseAddress(address).ok) return;
        accepted += 1;
        const key = keyOf(address, host);
        expect(keyOf(key, host)).toBe(key);
        expect(key.normalize("NFC")).toBe(key);
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).toBeGreaterThan(2_000);
  });
});
