import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { REASONS } from "../../../src/contract/email-reasons.ts";
import { EMAIL_SUB_STATUSES } from "../../../src/contract/words.ts";
import { mailDomainOf } from "../../../src/verification/email/address.ts";
import type { DomainFacts } from "../../../src/verification/email/domain-facts.ts";
import { verifyDomain } from "../../../src/verification/email/domain-verdict.ts";
import type { EmailVerification } from "../../../src/verification/email/email-verification.ts";
import { SCORE_BANDS } from "../../../src/verification/email/scoring.ts";
import {
  checkFailed,
  createAddressVerifier,
  writeVerificationIn,
} from "../../../src/verification/email/verification.ts";
import { fillFrame, frameOf } from "../../../src/verification/email/verification-frame.ts";
import { quickestMs } from "../../support/duration.ts";
import { EMAIL_FIELDS } from "../../support/result-fields.ts";
import invalidText from "../../vectors/email/address.invalid.txt" with { type: "text" };
import { factsFrom, verifiedBy } from "./facts.ts";
import { rowsOf } from "./vectors.ts";

function verify(text: string, known = "mx"): EmailVerification {
  return verifiedBy(text, (domain) => factsFrom(domain, known));
}

describe("an invalid address", () => {
  test("is undeliverable with score 0, its fault as the first reason and no normalized form", () => {
    for (const [address = "", reason = ""] of rowsOf(invalidText)) {
      const result = verify(address);
      const isSyntax = reason !== "invalid_tld" && reason !== "reserved_domain";
      expect(result).toMatchObject({
        email: address,
        status: "undeliverable",
        sub_status: isSyntax ? "invalid_syntax" : reason,
        score: 0,
      });
      expect(result.reasons[0]).toBe(reason as keyof typeof REASONS);
      if (isSyntax) expect(result.normalized).toBe("");
    }
  });

  test("gets a suggestion where the typo is in the domain", () => {
    for (const [typed, meant] of [
      ["Jane.Roe+x@gmail.con", "Jane.Roe+x@gmail.com"],
      ["jane@gmailcom", "jane@gmail.com"],
      ["jane@gmail,com", "jane@gmail.com"],
      ["jane@gmail..com", "jane@gmail.com"],
      ["jane@GMAIL.COM.", "jane@gmail.com"],
      ["'jane@gmail.com'", "jane@gmail.com"],
      ["“jane@gmail.com”", "jane@gmail.com"],
      ["'jane@gmail.con", "'jane@gmail.com"],
      ["jane@northwind-traders.cmo", "jane@northwind-traders.com"],
      ["jane@müller-blumen.con", "jane@müller-blumen.com"],
      ["jane@xn--mller-blumen-thb.con", "jane@xn--mller-blumen-thb.com"],
      ["jane@gmаil.con", "jane@gmail.com"],
      ["jane@t_online.de", "jane@t-online.de"],
    ] as const) {
      const result = verify(typed);
      expect(result).toMatchObject({ status: "undeliverable", did_you_mean: meant });
      expect(result.reasons).toContain("possible_typo");
    }
  });
});

describe("a result", () => {
  test("has the fields of the contract in their order", () => {
    for (const text of ["jane@acme-tools.com", "no", "jane@gmail.con"])
      expect(Object.keys(verify(text))).toEqual(EMAIL_FIELDS);
    expect(Object.keys(checkFailed("x"))).toEqual(EMAIL_FIELDS);
  });

  test("has the address as given, and the local part as given in the suggestion", () => {
    const result = verify("  Jane.Roe@GMIAL.com ");
    expect(result.email).toBe("  Jane.Roe@GMIAL.com ");
    expect(result.did_you_mean).toBe("Jane.Roe@gmail.com");
    expect(result.normalized).toBe("jane.roe@gmial.com");
  });

  test("has the MX hosts by preference, and none without MX", () => {
    expect(verify("jane@acme-tools.com").mx_hosts).toEqual(["mx1.acme-tools.com", "mx2.acme-tools.com"]);
    expect(verify("jane@acme-tools.com", "implicit_mx")).toMatchObject({ has_mx: false, mx_hosts: [] });
    expect(verify("jane@acme-tools.com", "mx targets=dead")).toMatchObject({ has_mx: true });
  });

  test("is the same from a verifier and a domain verdict that are reused", () => {
    const facts = factsFrom("acme-tools.com", "mx free spf=none");
    const kept = verifyDomain(facts);
    const reused = createAddressVerifier();
    for (const local of ["jane", "info", "xk7qz9vw2pq4", "J.Roe+x"]) {
      const text = `${local}@acme-tools.com`;
      expect(reused(text, kept)).toEqual(verify(text, "mx free spf=none"));
    }
    for (const refused of ["a@gmail.con", "b@gmail.con", "a@gmail..com", "c@gmail.con", "no address"]) {
      expect(reused(refused, undefined)).toEqual(verify(refused));
    }
  });

  test("of a failed check is unknown and says nothing about the address", () => {
    expect(checkFailed("jane@acme-tools.com")).toMatchObject({
      email: "jane@acme-tools.com",
      status: "unknown",
      sub_status: "check_failed",
      reasons: ["check_failed"],
    });
  });
});

const KNOWN = [
  "not_checked",
  "timeout",
  "error",
  "no_domain",
  "no_mail_server",
  "null_mx",
  "implicit_mx free",
  "mx",
  "mx cname partly nullmixed free",
  "mx targets=literal disposable=listed",
  "mx targets=dead disposable=mail_host",
  "mx spf=none dmarc=none",
  "implicit_mx spf=found all=- sendsnomail dmarc=found policy=reject",
];

test("any text with any facts has a result of the contract in less than 5 ms", () => {
  const locals = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.constantFrom("info", "a.b+c", "xk7qz9vw2p"),
  );
  const domains = fc.oneof(
    fc.string({ unit: "binary", maxLength: 80 }),
    fc.domain(),
    fc.constantFrom("gmail.com", "gmial.com", "x.mozmail.com", "müller.de", "a.con", "yahoo.co.u", "qq.com"),
  );
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.tuple(locals, domains).map((parts) => parts.join("@")),
  );
  const warm = verify("jane@acme-tools.com");
  expect(warm.status).toBe("deliverable");
  fc.assert(
    fc.property(texts, fc.constantFrom(...KNOWN), (text, known) => {
      expect(quickestMs(() => verify(text, known), 5)).toBeLessThan(5);
      expectContract(verify(text, known), text);
    }),
    { numRuns: 3_000 },
  );
}, 120_000);

function expectContract(result: EmailVerification, text: string): void {
  const [least, most] = SCORE_BANDS[result.status];
  expect(result.email).toBe(text);
  expect(EMAIL_SUB_STATUSES).toContain(result.sub_status);
  expect(result.score).toBeGreaterThanOrEqual(least);
  expect(result.score).toBeLessThanOrEqual(most);
  expect(result.gibberish_score).toBeGreaterThanOrEqual(0);
  expect(result.gibberish_score).toBeLessThanOrEqual(1);
  expect(result.reasons.length).toBeGreaterThan(0);
  for (const reason of result.reasons) expect(REASONS).toHaveProperty(reason);
  if (mailDomainOf(text) === null) expect(result.status).toBe("undeliverable");
  expect(result.reasons.includes("possible_typo")).toBe(result.did_you_mean !== null);
}

describe("a serialised verification", () => {
  const DOMAINS = ["gmail.com", "acme-tools.com", "gmial.com", "user.fastmail.com", "müller.de", "qq.com"];
  /** Among them a role that is gibberish, and a name with the same points for it. */
  const DIFFERENT = [
    "project.1",
    "gibr1xx",
    "jane",
    "info",
    "J.Roe+x",
    "xk7qz9vw2pq4",
    "12345",
    "o'brien",
    "{}",
    "jörg",
    "名前",
  ];

  function expectWritten(texts: readonly string[], facts: DomainFacts): void {
    const domainVerdict = verifyDomain(facts);
    const reused = createAddressVerifier();
    for (const text of texts) {
      // With a domain verdict of its own, as a shared one might make both wrong alike.
      const result = reused(text, verifyDomain(facts));
      const { json, status, sub_status } = writeVerificationIn(text, 0, text.length, domainVerdict);
      expect(json).toBe(JSON.stringify(result));
      expect([status, sub_status]).toEqual([result.status, result.sub_status]);
      // Within a longer text, of which nothing else may be read.
      const [before, after] = ['+Team9@x.y","', '","+noreply@qq.com"]'];
      const end = before.length + text.length;
      const within = writeVerificationIn(`${before}${text}${after}`, before.length, end, domainVerdict);
      expect(within).toEqual({ json, status, sub_status });
    }
  }

  test("is exactly the JSON of the result, in any order of the addresses of a domain", () => {
    const locals = fc.array(
      fc.oneof(
        fc.constantFrom(...DIFFERENT),
        fc.emailAddress().map((text) => text.split("@")[0]),
      ),
      { minLength: 2, maxLength: 8 },
    );
    const around = fc.constantFrom("", " ", "\t", "\u00a0");
    fc.assert(
      fc.property(
        locals,
        fc.constantFrom(...DOMAINS),
        fc.constantFrom(...KNOWN),
        around,
        (some, domain, known, space) => {
          const texts = some.map((local) => `${space}${local}@${domain}`);
          const accepted = texts.filter((text) => mailDomainOf(text) !== null);
          expectWritten(accepted, factsFrom(mailDomainOf(`a@${domain}`) ?? "", known));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("is right for every domain of those that share their mail hosts", () => {
    const states = [...KNOWN, "mx disposable=listed", "mx free", "mx targets=unknown", "mx targets=private"];
    for (const hosts of [[], ["mx.host.net"], ["a", "b"], ['a","b']]) {
      for (const [n, known] of states.entries()) {
        const facts = factsFrom(`company-${n}.com`, known);
        const mail = facts.mail.state === "mx" ? { ...facts.mail, hosts } : facts.mail;
        expectWritten([`jane@company-${n}.com`, `info@company-${n}.com`], { ...facts, mail });
      }
    }
  });

  test("has every gibberish score as JSON.stringify writes it", () => {
    const example = verify("jane@acme-tools.com");
    const frame = frameOf(example);
    if (frame === null) throw new Error("no frame");
    for (let thousandths = 0; thousandths <= 1000; thousandths += 1) {
      const result = { ...example, gibberish_score: thousandths / 1000 };
      const json = fillFrame(frame, result.email, result.normalized, result.gibberish_score);
      expect(json).toBe(JSON.stringify(result));
    }
  });

  test("is right for more gibberish scores than a domain caches verdicts on", () => {
    const texts = Array.from({ length: 3_000 }, (_, n) => `${(n * 7919).toString(36)}${n}@acme-tools.com`);
    expectWritten(texts, factsFrom("acme-tools.com", "mx"));
  });

  test("has no cached frame for a domain with many long hosts", () => {
    const mail = factsFrom("acme-tools.com", "mx").mail;
    if (mail.state !== "mx") throw new Error("no hosts");
    const hosts = Array.from({ length: 64 }, (_, n) => `mx${n}.${"long-label.".repeat(18)}com`);
    const facts = { ...factsFrom("acme-tools.com", "mx"), mail: { ...mail, hosts } };
    const domainVerdict = verifyDomain(facts);
    expectWritten(["jane@acme-tools.com", "info@acme-tools.com"], facts);
    writeVerificationIn("jane@acme-tools.com", 0, "jane@acme-tools.com".length, domainVerdict);
    expect(domainVerdict.verdicts.onPerson?.frame).toBeNull();
  });

  test("is right for hosts that look like its own fields", () => {
    const facts = factsFrom("acme-tools.com", "mx");
    const hosts = ['mx"email":null', '"normalized":null.com', ',"gibberish_score":null', "\\"];
    expectWritten(["jane@acme-tools.com", "john@acme-tools.com"], {
      ...facts,
      mail: { state: "mx", hosts, targets: "public", cname: false, partlyDead: false, nullMixed: false },
    });
  });
});

test("a megabyte of any text is refused within 5 ms", () => {
  for (const unit of ["a", "@", "a.", "ü", "\u0301", " ", "a@"]) {
    const text = `${unit.repeat(500_000)}@${unit.repeat(500_000)}`;
    expect(verify(text).sub_status).toBe("invalid_syntax");
    expect(quickestMs(() => verify(text), 5)).toBeLessThan(5);
  }
});
